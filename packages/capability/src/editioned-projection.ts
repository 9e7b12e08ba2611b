// A partition of a projection that follows other services, in the live edition, with its copy in the edition being filled.
import type { Checkpoint, ProjectionState } from '@lead-scoring/event-log';
import { EditionedState, type EditionedStateOptions } from './editioned-state.js';

export class EditionedProjection extends EditionedState<ProjectionState> implements ProjectionState {
  static async open(options: EditionedStateOptions<ProjectionState>): Promise<EditionedProjection> {
    await EditionedState.prepare(options);
    return new EditionedProjection(options);
  }

  override async checkpoint(): Promise<Checkpoint> {
    const from = await super.checkpoint();
    this.follow();
    return from;
  }
}
