/** Sends a recorded answer to another client. */
import type { ClientReply, Trailers } from "../request/Exchange.ts"
import { Feeder } from "./Feeder.ts"
import type { Recorded } from "./Recorder.ts"

const empty = Buffer.alloc(0)

/**
 * Writes the answer as fast as the client takes it, and ends it as it ended: what was cut is cut. `headers`: the client's own, made of those of
 * the recording; absent: the same. A client that leaves gets no more.
 */
export const replayTo = (
  reply: ClientReply,
  recorded: Recorded,
  headers: (recorded: ReadonlyArray<string>) => Array<string> = (same) => [...same],
  trailers?: Trailers
): void => {
  if (reply.isClosed()) return
  const { chunks, isEnded } = recorded
  /** Chunks that are written; the last one goes out with the end. */
  const written = isEnded ? Math.max(0, chunks.length - 1) : chunks.length
  let at = 0
  const next = (): Buffer | null => {
    const chunk = at < written ? chunks[at] : undefined
    at += 1
    return chunk ?? null
  }
  const dry = (): void => {
    feeder.stop()
    noLongerClose()
    if (isEnded) reply.end(chunks[written] ?? empty, trailers)
    else reply.cut()
  }
  const feeder = new Feeder(reply, { next, dry })
  const noLongerClose = reply.onClose(() => feeder.stop())
  reply.head(recorded.status, headers(recorded.headers))
  feeder.run()
}
