/**
 * A program as an MCP server: each line of its standard input and output is a message.
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#stdio
 */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import { startLineProcess } from "../../../platform/programs/LineProcess.ts"
import { startProblem } from "../../../platform/programs/ProgramFile.ts"
import type { Timers } from "../../../platform/Timers.ts"
import type { SentSecrets } from "../../../kernel/secrets/SentSecrets.ts"
import { readAnswerJson, Unreadable } from "../../../wire/json/Bounds.ts"
import type { JsonObject } from "../../../wire/json/Json.ts"
import { BadMessage, readMessage, type RequestId, type RpcResponse } from "../protocol/JsonRpc.ts"
import { type Link, type LinkError, linkError, maxAnswerBytes, type OpenLink } from "./Link.ts"

export interface Program {
  /** Absolute path. */
  readonly command: string
  readonly args: ReadonlyArray<string>
  /** All of its environment. */
  readonly environment: Readonly<Record<string, string>>
}

/** Programs print a greeting now and then; one that prints on is no MCP server. */
const mostForeignLines = 100

const doesNotRead = (): LinkError => linkError("ended", "does not read what it is sent")

export const stdioLink =
  (
    timers: Pick<typeof Timers.Service, "after">,
    program: Program,
    secrets: SentSecrets,
    scrub: (text: string) => string
  ): OpenLink =>
  (events) => {
    const start = (): Link => {
      const waiting = new Map<RequestId, (answer: Effect.Effect<RpcResponse, LinkError>) => void>()
      let ended: LinkError | null = null
      let foreignLines = 0

      const end = (error: LinkError): void => {
        if (ended !== null) return
        ended = error
        for (const answer of waiting.values()) answer(Effect.fail(error))
        waiting.clear()
        events.onEnd(error)
      }

      const take = (line: string): void => {
        if (line.trim() === "") return
        const value = secrets.json(readAnswerJson(line))
        const message = value instanceof Unreadable ? null : readMessage(value)
        if (message === null || message instanceof BadMessage) {
          foreignLines += 1
          if (foreignLines <= mostForeignLines) return
          end(linkError("invalid", `printed ${foreignLines} lines that are no messages`))
          Effect.runFork(child.stop)
        } else if (message._tag === "Response") {
          const answer = waiting.get(message.id)
          waiting.delete(message.id)
          answer?.(Effect.succeed(message))
        } else events.onMessage(message)
      }

      const child = startLineProcess(timers, {
        ...program,
        maxLineBytes: maxAnswerBytes,
        onLine: take,
        onEnd: (problem, lastWords) => {
          const said = lastWords === "" ? "" : `: ${scrub(lastWords)}`
          end(linkError("ended", `${problem}${said}`))
        }
      })

      const write = (message: JsonObject): boolean => child.write(JSON.stringify(message))

      return {
        ask: (message, id) =>
          Effect.async<RpcResponse, LinkError>((resume) => {
            if (ended !== null) return resume(Effect.fail(ended))
            waiting.set(id, resume)
            if (!write(message)) {
              waiting.delete(id)
              return resume(Effect.fail(doesNotRead()))
            }
            return Effect.sync(() => void waiting.delete(id))
          }),
        tell: (message) => Effect.suspend(() => (write(message) ? Effect.void : Effect.fail(ended ?? doesNotRead()))),
        begun: () => Effect.void,
        close: child.stop
      }
    }
    return Effect.try({
      try: start,
      catch: (error) => linkError("unreachable", startProblem(Predicate.hasProperty(error, "code") ? error.code : null))
    })
  }
