// The flags of all commands, and the types that the declarations of commands share.
import type { AuditFlags } from './audit-command.js';
import type { Readable } from 'node:stream';
import type { AclsFlags } from './acls-command.js';
import type { ChallengerFlags } from './challenger-commands.js';
import type { ExportFlags } from './export-command.js';
import type { HistoryFlags } from './history-command.js';
import type { IngestFlags } from './ingest-command.js';
import type { JobsFlags } from './jobs-command.js';
import type { LeadImportFlags } from './lead-import-command.js';
import type { ExplainFlags, LeadsFlags, ResetFlags } from './leads-commands.js';
import type { TailFlags } from './log-commands.js';
import type { MembersFlags } from './members-command.js';
import type { Output } from './output.js';
import type { AcceptFlags } from './positions-commands.js';
import type { BackfillFlags } from './backfill-command.js';
import type { BackupFlags } from './backup-command.js';
import type { RescoreFlags } from './rescore-command.js';
import type { ApplyFlags, RulesExportFlags } from './rules-commands.js';
import type { GlobalFlags, Settings } from './settings.js';
import type { SuggestFlags } from './suggest-command.js';
import type { UsageFlags } from './usage-command.js';
import type { RestoreFlags } from './versions-commands.js';

/** The flags of all commands together; each command reads its own. */
export type Flags = GlobalFlags &
  IngestFlags &
  LeadsFlags &
  LeadImportFlags &
  JobsFlags &
  RescoreFlags &
  BackfillFlags &
  BackupFlags &
  SuggestFlags &
  ChallengerFlags &
  ResetFlags &
  ExplainFlags &
  HistoryFlags &
  ExportFlags &
  TailFlags &
  MembersFlags &
  UsageFlags &
  AuditFlags &
  AclsFlags &
  AcceptFlags &
  ApplyFlags &
  RulesExportFlags &
  RestoreFlags & { timeout?: string; again?: boolean; yes?: boolean };

/** The parts that all declarations of commands need. */
export interface CommandContext {
  /** Runs an action with the flags of its command, the global flags, and the arguments. */
  command: (action: Action) => (...given: unknown[]) => Promise<void>;
  output: Output;
  stdin: Readable;
}

export type Action = (flags: Flags, settings: Settings, words: string[]) => Promise<number>;
