/** The way back to an HTTP client, over node's own response object. */
import type { ServerResponse } from "node:http"
import type { ClientReply } from "../inference/Exchange.ts"

const nothing = (): void => {}

export const nodeReply = (response: ServerResponse): ClientReply => {
  let onDrain = nothing
  let onClose = nothing
  let listensToDrain = false
  response.on("close", () => {
    if (!response.writableFinished) onClose()
  })
  return {
    head: (status, headers) => {
      response.writeHead(status, headers)
    },
    write: (chunk) => response.write(chunk),
    end: (chunk) => {
      if (chunk === undefined || chunk.length === 0) response.end()
      else response.end(chunk)
    },
    onDrain: (listener) => {
      onDrain = listener
      if (listensToDrain) return
      listensToDrain = true
      response.on("drain", () => onDrain())
    },
    onClose: (listener) => {
      onClose = listener
    },
    isClosed: () => response.destroyed || response.writableEnded
  }
}
