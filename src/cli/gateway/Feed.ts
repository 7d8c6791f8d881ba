/** A feed of a running gateway over WebSocket, as a queue of its frames. */
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import * as Redacted from "effect/Redacted"
import { WebSocket } from "ws"
import { objectOr, parseJson, stringOr } from "../../subjects/declared/Values.ts"
import { type CliFailure, CommandFailed } from "../Failure.ts"
import * as Client from "./Client.ts"

const maxFrameBytes = 64 * 1_048_576
/** Frames that wait while the terminal is slow. */
const maxWaiting = 10_000

export type FeedMessage<Frame> =
  | { readonly _tag: "Frame"; readonly frame: Frame }
  | { readonly _tag: "Closed"; readonly failure: CliFailure }

export interface Feed<Frame> {
  readonly path: string
  /** Null: nothing that is known here, which is left out. */
  readonly decode: (text: string) => Frame | null
  /** Sent when the feed is open. */
  readonly firstFrame?: string
}

/** The refusal of an upgrade as the same refusal of a request. */
const refused = (to: Client.Target, status: number, text: string): CliFailure => {
  if (status === 401) return Client.explain(to)({ _tag: "Unauthorized" })
  const message = stringOr(objectOr(objectOr(parseJson(text))["error"])["message"])
  return new CommandFailed({ message: message ?? `The gateway answered with the status ${status}.` })
}

/** Frames as they come, until the scope ends; `Closed`: none will follow. */
export const listenTo = <Frame>(to: Client.Target, { decode, firstFrame, path }: Feed<Frame>) =>
  Effect.gen(function* () {
    const queue = yield* Queue.dropping<FeedMessage<Frame>>(maxWaiting)
    const closed = (failure: CliFailure): void => void Queue.unsafeOffer(queue, { _tag: "Closed", failure })
    yield* Effect.acquireRelease(
      Effect.sync(() => {
        const socket = new WebSocket(`${to.url.replace(/^http/, "ws")}${path}`, {
          headers: to.apiKey === null ? {} : { authorization: `Bearer ${Redacted.value(to.apiKey)}` },
          maxPayload: maxFrameBytes,
          perMessageDeflate: false
        })
        if (firstFrame !== undefined) socket.on("open", () => socket.send(firstFrame))
        socket.on("message", (data) => {
          const frame = decode(String(data))
          if (frame !== null) Queue.unsafeOffer(queue, { _tag: "Frame", frame })
        })
        socket.on("unexpected-response", (_request, response) => {
          const pieces: Array<Buffer> = []
          response.on("data", (piece: Buffer) => pieces.push(piece))
          response.on("end", () => closed(refused(to, response.statusCode ?? 0, Buffer.concat(pieces).toString())))
        })
        socket.on("error", () => closed(Client.explain(to)({ _tag: "RequestError" })))
        socket.on("close", () =>
          closed(new CommandFailed({ message: "The gateway closed the feed.", hint: "Run the command again." }))
        )
        return socket
      }),
      (socket) => Effect.sync(() => socket.terminate())
    )
    return queue
  })
