// The end of a response, whether it was sent whole or its client has gone.
import type { ServerResponse } from 'node:http';

/**
 * Calls `then` once the response is closed: at once where it is closed already, because its event does not come again. A client may go
 * while a handler before this one, such as authentication, waits for a server.
 */
export function onceClosed(res: ServerResponse, then: () => void): void {
  if (res.destroyed) then();
  else res.once('close', then);
}
