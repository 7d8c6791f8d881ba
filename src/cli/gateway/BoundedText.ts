/** The text of an answer, read up to a limit. */
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { CommandFailed } from "../Failure.ts"

/** Reading stops where the answer is too large. */
export const boundedText = (address: string, { stream }: HttpClientResponse.HttpClientResponse, maxBytes: number) =>
  Stream.runFoldEffect(stream, { chunks: new Array<Uint8Array>(), size: 0 }, ({ chunks, size }, chunk) =>
    size + chunk.length > maxBytes
      ? new CommandFailed({ message: `What ${address} answers is larger than ${maxBytes / 1_048_576} MiB.` })
      : Effect.succeed({ chunks: (chunks.push(chunk), chunks), size: size + chunk.length })
  ).pipe(Effect.map(({ chunks }) => Buffer.concat(chunks).toString("utf8")))
