/** `gateway mcp add` and `edit`: MCP servers whose tools the gateway offers beside its own. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { CreateMcpServer, UpdateMcpServer } from "../../mcpServers/routes.ts"
import { readSecret } from "../../../cli/asking/stdin.ts"
import { BadArgument } from "../../../cli/Failure.ts"
import { body, changes } from "../../../cli/flags/Flags.ts"
import { each, NamedAny, notOf } from "../../../cli/flags/Forms.ts"
import * as Client from "../../../cli/gateway/Client.ts"
import * as Output from "../../../cli/output/Output.ts"
import { servers, OneServer, server } from "./servers.ts"
import { findOne } from "../../../cli/verbs/noun.ts"

const settings = {
  headers: Options.text("header").pipe(
    Options.withDescription("'<name>: <value>', sent with every request; may be given several times."),
    Options.repeated
  ),
  headerStdin: Options.boolean("header-stdin").pipe(
    Options.withDescription("Read headers from standard input, one a line; they stay out of the shell's history.")
  ),
  env: Options.text("env").pipe(
    Options.withDescription("<name>=<value> of the program's environment; may be given several times."),
    Options.repeated,
    Options.withSchema(each(NamedAny, notOf("--env", "<name>=<value>")))
  ),
  timeoutMs: Options.integer("timeout").pipe(
    Options.withDescription("How long each request may take, in milliseconds. Default: 30000."),
    Options.optional
  ),
  allowedTools: Options.text("tool").pipe(
    Options.withDescription("A tool that is offered, '*' in it for any text; several times. Without it all are."),
    Options.repeated
  ),
  allowedKeys: Options.text("key").pipe(
    Options.withDescription(
      "Id of an API key that may use it; several times. Without it every key with the scope may."
    ),
    Options.repeated
  )
}

const flagNames = {
  name: "<name>",
  url: "<url>",
  headers: "--header",
  command: "<command>",
  args: "<args>",
  env: "--env",
  timeoutMs: "--timeout",
  allowedTools: "--tool",
  allowedKeys: "--key"
}

type ServerFlags = Command.Command.ParseConfig<typeof settings>

const headerOf = (line: string): Effect.Effect<readonly [string, string], BadArgument> => {
  const colon = line.indexOf(":")
  // The line may be a secret, so it is not repeated.
  if (colon < 1) return new BadArgument({ message: "--header: a header is not of the form '<name>: <value>'." })
  return Effect.succeed([line.slice(0, colon).trim(), line.slice(colon + 1).trim()])
}

/** Converts the flags to a body of the contract; an absent one is undefined. */
const inputOf = (given: ServerFlags) =>
  Effect.gen(function* () {
    const piped = given.headerStdin ? (yield* readSecret).split(/\r?\n/).filter((line) => line.trim() !== "") : []
    const headers = yield* Effect.forEach([...given.headers, ...piped], headerOf)
    return {
      headers: headers.length === 0 ? undefined : Object.fromEntries(headers),
      env: given.env.length === 0 ? undefined : Object.fromEntries(given.env),
      timeoutMs: Option.getOrUndefined(given.timeoutMs),
      allowedTools: given.allowedTools.length === 0 ? undefined : given.allowedTools,
      allowedKeys: given.allowedKeys.length === 0 ? undefined : given.allowedKeys
    }
  })

const added = {
  name: Args.text({ name: "name" }).pipe(Args.withDescription("Comes before the names of its tools: <name>__<tool>.")),
  place: Args.text({ name: "place" }).pipe(
    Args.withDescription("Its URL; with --stdio a program's absolute path and its arguments, behind '--'."),
    Args.atLeast(1)
  ),
  stdio: Options.boolean("stdio").pipe(
    Options.withDescription("It is a program on the gateway's machine, spoken to over standard input and output.")
  )
}

/** The words behind the name: a URL, or a program and its arguments. */
const placed = (isProgram: boolean, [first, ...others]: ReadonlyArray<string>) => {
  if (isProgram) return Effect.succeed({ command: first, args: others })
  return others.length === 0
    ? Effect.succeed({ url: first })
    : new BadArgument({ message: "One URL is expected.", hint: "A program is added with --stdio -- <command> <args>." })
}

export const mcpAdd = Command.make("add", { ...added, ...settings, ...Client.connection }, (given) =>
  Effect.gen(function* () {
    const place = yield* placed(given.stdio, given.place)
    const payload = yield* body(CreateMcpServer, { name: given.name, ...place, ...(yield* inputOf(given)) }, flagNames)
    const to = yield* Client.target(given)
    const client = yield* Client.group(to, "mcpServers")
    const value = yield* client.create({ payload }).pipe(Client.orExplain(to))
    const { name } = value.server
    const text = Output.note(`'${name}' is added. Its tools are ${name}__…; see them with 'gateway mcp test ${name}'.`)
    yield* Output.result({ schema: OneServer, value, text, name })
  })
)

const toUrl = Options.text("to").pipe(Options.withDescription("Another URL."), Options.optional)

export const mcpEdit = Command.make("edit", { server, to: toUrl, ...settings, ...Client.editing }, (given) =>
  Effect.gen(function* () {
    const input = { url: Option.getOrUndefined(given.to), ...(yield* inputOf(given)) }
    const payload = yield* changes(
      UpdateMcpServer,
      input,
      { ...flagNames, url: "--to" },
      "mcp edit docs --timeout 60000"
    )
    const to = yield* Client.target(given)
    const { client, found } = yield* findOne(servers, to, given.server)
    const value = yield* client.update({ path: { id: found.id }, payload })
    const text = Output.note(`'${found.name}' is changed.`)
    yield* Output.result({ schema: OneServer, value, text, name: value.server.name })
  })
)
