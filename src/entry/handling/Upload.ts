/** A request body that goes to a file as it comes, within a limit. */
import * as Effect from "effect/Effect"
import { createWriteStream } from "node:fs"
import type { IncomingMessage } from "node:http"
import { type BadRequest, TooLarge, Unavailable } from "../../contract/Errors.ts"
import { BodyNotDecoded } from "../../contract/domain/Errors.ts"
import { reasonOf } from "../../store/Errors.ts"
import { asSentence } from "../../kernel/text/Sentence.ts"
import { announcedBytes, bodyOf } from "../listening/ContentCodings.ts"
import { notDecoded } from "./Answers.ts"

/** Fails with 413 beyond `limitBytes`, and with 503 when the file cannot be written. A client that goes away interrupts. */
export const receiveFile = (
  message: IncomingMessage,
  file: string,
  limitBytes: number
): Effect.Effect<void, BadRequest | TooLarge | Unavailable> =>
  Effect.async((resume) => {
    const tooLarge = new TooLarge({ message: `The file is larger than ${limitBytes} bytes, the limit of this route.` })
    if (announcedBytes(message) > limitBytes) {
      message.resume()
      return resume(tooLarge)
    }
    const body = bodyOf(message)
    let receivedBytes = 0
    let isOver = false
    const target = createWriteStream(file, { flags: "wx", mode: 0o600 })
    const end = (result: Effect.Effect<void, BadRequest | TooLarge | Unavailable>): void => {
      if (isOver) return
      isOver = true
      // What is left is thrown away, so that the client gets to see the answer.
      body.unpipe(target)
      body.resume()
      if (!target.closed) target.destroy()
      resume(result)
    }
    body.on("data", (chunk: Buffer) => {
      receivedBytes += chunk.length
      if (receivedBytes > limitBytes) end(tooLarge)
    })
    body.on("error", (cause) => {
      if (cause instanceof BodyNotDecoded) end(notDecoded(cause))
    })
    body.on("close", () => {
      if (!body.complete) end(Effect.interrupt)
    })
    target.on("error", (error) =>
      end(
        new Unavailable({
          message: `The upload could not be stored: ${asSentence(reasonOf(error))}`,
          code: "backup_failed"
        })
      )
    )
    target.on("close", () => end(Effect.void))
    body.pipe(target)
    return Effect.sync(() => {
      isOver = true
      body.unpipe(target)
      target.destroy()
    })
  })
