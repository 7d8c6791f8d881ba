/**
 * Canonical events → text completion chunks.
 *
 * https://developers.openai.com/api/reference/resources/completions/methods/create
 */
import { makeChunkEncoder } from "../../chat/ChunkStream.ts"
import type { EncodeContext, StreamEncoder } from "../../WireCodec.ts"
import { echoOf, finishReasonOf } from "./Answer.ts"

export const makeStreamEncoder = (context: EncodeContext): StreamEncoder =>
  makeChunkEncoder(context, "text_completion", (write) => {
    /** Blocks other than text: reasoning, calls, opaque blocks. */
    const hidden = new Set<number>()
    const chunk = (text: string, finish: string | null): string =>
      write(`{"text":${JSON.stringify(text)},"index":0,"logprobs":null,"finish_reason":${JSON.stringify(finish)}}`)

    return {
      opening: () => {
        const echo = echoOf(context)
        return echo === "" ? "" : chunk(echo, null)
      },
      encode: (event) => {
        switch (event.type) {
          case "block_start":
            if (event.block.type !== "text" && event.block.type !== "refusal") hidden.add(event.index)
            return ""
          case "delta":
            return event.delta.type === "text" && !hidden.has(event.index) ? chunk(event.delta.text, null) : ""
          case "block_stop":
            hidden.delete(event.index)
            return ""
          case "finish":
            return chunk("", finishReasonOf(event.stop.reason))
        }
      }
    }
  })
