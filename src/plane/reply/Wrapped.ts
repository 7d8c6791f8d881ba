/** Replies over replies. */
import type { ClientReply } from "../request/Exchange.ts"

/** Does what `reply` does, except for what is named. */
export const wrapped = (reply: ClientReply, own: Partial<ClientReply>): ClientReply => ({
  head: (status, headers) => reply.head(status, headers),
  write: (chunk) => reply.write(chunk),
  end: (chunk, trailers) => reply.end(chunk, trailers),
  cut: () => reply.cut(),
  onDrain: (listener) => reply.onDrain(listener),
  onClose: (listener) => reply.onClose(listener),
  isClosed: () => reply.isClosed(),
  ...own
})
