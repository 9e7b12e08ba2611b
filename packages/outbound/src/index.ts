export { createOutbound } from './outbound.js';
export type { Outbound, OutboundOptions, OutboundRequest, OutboundResponse } from './outbound.js';
export { OutboundFailed, OutboundRefused } from './errors.js';
export type { OutboundFailedReason, OutboundRefusedCode } from './errors.js';
export { parsePrivateTargets, privateTargetsSetting } from './private-targets.js';
export type { PrivateTarget } from './private-targets.js';
