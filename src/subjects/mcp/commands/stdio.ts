/**
 * `gateway mcp serve`, also `gateway --mcp` and `gateway mcp`: the MCP server over standard input and output, for clients that start it as a program.
 * Each line is a message; it is handed to the running gateway over HTTP, and what is answered is written as lines. Everything else goes to standard
 * error. https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#stdio
 */
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { createInterface } from "node:readline"
import * as Client from "../../../cli/gateway/Client.ts"
import * as Output from "../../../cli/output/Output.ts"
import { Stdout } from "../../../cli/output/Stdout.ts"
import { makeRelay } from "./Relay.ts"

/** Messages that are answered at once. */
const mostAtOnce = 32

const flags = {
  toolsets: Options.text("toolsets").pipe(
    Options.withDescription("Only the tools of these sets, such as 'models,usage'; docs/mcp.md lists them."),
    Options.optional
  ),
  schemas: Options.choice("schemas", ["short", "input", "full"]).pipe(
    Options.withDescription("How the tools' schemas are listed; 'full' has those of their results too."),
    Options.optional
  ),
  ...Client.connection
}

const headersOf = (given: Readonly<Record<string, Option.Option<string>>>): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(given).flatMap(([name, value]) => (Option.isSome(value) ? [[name, value.value]] : []))
  )

export const mcpServe = Command.make("serve", flags, (given) =>
  Effect.gen(function* () {
    const stdout = yield* Stdout
    const relay = yield* makeRelay({
      target: Client.target(given, Client.clientKeys),
      headers: headersOf({ "x-gateway-mcp-toolsets": given.toolsets, "x-gateway-mcp-schemas": given.schemas }),
      write: (message) => stdout.write(`${message}\n`),
      note: Output.note
    })
    const { url } = yield* Client.target(given, Client.clientKeys)
    yield* Output.note(`MCP over stdio for ${url}.`)
    const lines = createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY })
    yield* Effect.promise(async () => {
      const underWay = new Set<Promise<void>>()
      for await (const line of lines) {
        if (line.trim() === "") continue
        const one: Promise<void> = Effect.runPromise(relay.send(line)).finally(() => underWay.delete(one))
        underWay.add(one)
        // The first message begins the session that the others name.
        if (!relay.hasSession() || underWay.size >= mostAtOnce) await Promise.race(underWay)
      }
      await Promise.all(underWay)
    })
    yield* relay.end
  })
)
