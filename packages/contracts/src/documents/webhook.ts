// The documents' description of the requests that receivers of webhook channels get.
import { deliveryHeader } from '../vocabulary/webhook.js';

export const webhookDescription = `Sent as \`POST\` with a JSON body of less than 20,000 bytes. Ignore members that you do not know.

- **Signed** after the [Standard Webhooks](https://www.standardwebhooks.com) specification with the channel's \`signing_secret\`; after a rotation for 24 hours with both secrets. Verify with one of its libraries, which also refuse an old timestamp.
- **At least once**: a notification that was taken may come again, under the same \`webhook-id\`. Remember the ids that you have taken.
- **Order**: notifications of one lead or account are attempted in their order; one that has to be tried again does not hold up the next. \`timestamp\` tells which is newer.
- **Answer** with 2xx within 15 seconds. Anything else is a failure, also a redirect, and is tried again after 5 seconds, 5 and 30 minutes, 2, 5, 10 and 10 hours, give or take a fifth; after 429 or a timeout not before a minute. 410 pauses the channel at once, five days of failures do so too.
- **Loops**: POST /ingest and /import refuse requests that carry \`${deliveryHeader}\`.`;

export const webhookHeaders = [
  { name: 'webhook-id', required: true, text: "The notification's id, the same on every attempt." },
  { name: 'webhook-timestamp', required: true, text: 'Epoch seconds of the attempt.' },
  {
    name: 'webhook-signature',
    required: true,
    text: 'One or two of `v1,<base64>`, separated by a space: HMAC-SHA256 of `<webhook-id>.<webhook-timestamp>.<body>`.',
  },
  {
    name: deliveryHeader,
    required: true,
    text: "The notification's id; marks the request as ours.",
  },
  { name: 'authorization', required: false, text: "The channel's `auth_header`, if it has one." },
] as const;
