// A message of Segment's tracking API after its form was checked.

/** An object that the sender is free to fill. */
export type SentObject = Readonly<Record<string, unknown>>;
export type SentId = string | number | null | undefined;

/** The fields of a message of any type. */
export interface Message {
  event?: string;
  messageId?: string | null | undefined;
  userId?: SentId;
  anonymousId?: SentId;
  previousId?: SentId;
  groupId?: SentId;
  name?: string | null | undefined;
  category?: string | null | undefined;
  timestamp?: string | null | undefined;
  originalTimestamp?: string | null | undefined;
  sentAt?: string | null | undefined;
  context?: SentObject | null | undefined;
  properties?: SentObject | null | undefined;
  traits?: SentObject | null | undefined;
}
