// The delivery capability: the owner of a channel's partition sends the channel's notifications and records each attempt. One
// command or event may concern many notifications of a channel, so a batch is decided together.
import { batchEffect, type BatchEffect } from '@lead-scoring/capability';
import { DeliveryDecider, type DeciderOptions } from './decider.js';
import { deliveryCollections } from './documents.js';
import { deliveryCommands, deliveryRecords } from './messages.js';
import { deliveryWork, type WorkOptions } from './work.js';

export type DeliveryOptions = DeciderOptions & WorkOptions;

export interface Delivery {
  command: keyof typeof deliveryCommands;
  event: keyof typeof deliveryRecords;
  decider: DeliveryDecider;
}

export function deliveryCapability(options: DeliveryOptions): BatchEffect<Delivery> {
  return batchEffect<Delivery>({
    name: 'delivery',
    commands: deliveryCommands,
    events: deliveryRecords,
    collections: deliveryCollections,
    open: (scope) => {
      const decider = new DeliveryDecider(scope, options);
      return { decider, work: deliveryWork(decider.store, scope.partition, options) };
    },
  });
}
