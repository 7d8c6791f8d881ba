/** `gateway launch <tool>`: starts a coding tool with the gateway in its environment, and writes nothing. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { existsSync } from "node:fs"
import { homedir, hostname } from "node:os"
import { join } from "node:path"
import { closest } from "../../../kernel/text/Closest.ts"
import { harmless } from "../../../kernel/text/TerminalText.ts"
import { type Launcher, launchers } from "../../../agents/tools/Launchers.ts"
import { folderOf } from "../../../agents/tools/config/tools/Claude.ts"
import { placesOf } from "../../../agents/tools/config/ToolSetup.ts"
import * as EnvFile from "../../../cli/flags/EnvFile.ts"
import { BadArgument, type CliFailure, CommandFailed } from "../../../cli/Failure.ts"
import * as Client from "../../../cli/gateway/Client.ts"
import { exec } from "../../../platform/programs/Exec.ts"

const flags = {
  model: Options.text("model").pipe(
    Options.withAlias("m"),
    Options.withDescription("The model to use. Default: auto."),
    Options.optional
  ),
  profile: Options.text("profile").pipe(
    Options.withDescription("A family of models: a profile that setup-claude or setup-codex wrote."),
    Options.optional
  ),
  token: Options.redacted("token").pipe(
    Options.withDescription(
      "Key for the tool. Default: GATEWAY_API_KEY, else one that lasts as long as the tool runs."
    ),
    Options.optional
  ),
  ...Client.connection
}

const rest = Args.text({ name: "args" }).pipe(Args.withDescription("For the tool, behind '--'."), Args.repeated)

type LaunchFlags = {
  readonly model: Option.Option<string>
  readonly profile: Option.Option<string>
  readonly token: Option.Option<Redacted.Redacted>
  readonly args: ReadonlyArray<string>
} & Parameters<typeof Client.target>[0]

const dayMs = 86_400_000

/** A key for as long as the tool runs; it ends by itself after a day, should it not be removed. */
const lasting = (tool: Launcher, to: Client.Target) =>
  Effect.acquireRelease(
    Effect.gen(function* () {
      const client = yield* Client.group(to, "keys")
      const nowMs = yield* Clock.currentTimeMillis
      const payload = {
        name: `launch ${tool.id} on ${harmless(hostname()).slice(0, 60)}`,
        expiresAt: new Date(nowMs + dayMs).toISOString()
      }
      const { key, secret } = yield* client.create({ payload }).pipe(Client.orExplain(to))
      return { secret, remove: client.remove({ path: { id: key.id } }) }
    }),
    ({ remove }) => Effect.ignore(remove)
  )

/** Names of variables that are the gateway's own, and no tool's. */
const secrets: ReadonlySet<string> = new Set([
  "GATEWAY_ADMIN_KEY",
  "GATEWAY_ADMIN_PASSWORD",
  "GATEWAY_API_KEY",
  "GATEWAY_ENCRYPTION_KEY",
  "GATEWAY_DATABASE_URL",
  "GATEWAY_VALKEY_URL"
])

/** The environment of this process without the settings file of the data folder: keys of providers in it are for the gateway alone. */
const environmentOf = (dataDir: string, environment: ReadonlyMap<string, string>) =>
  Effect.map(EnvFile.read(dataDir), (file) =>
    Object.fromEntries(
      Array.from(environment).filter(([name, value]) => !secrets.has(name) && file.get(name) !== value)
    )
  )

const profileOf = (tool: Launcher, given: LaunchFlags, home: string, environment: ReadonlyMap<string, string>) => {
  const profile = Option.getOrNull(given.profile)
  if (profile === null || tool.id !== "claude") return Effect.succeed(profile)
  const file = join(folderOf(placesOf(home, environment, existsSync)), "profiles", profile, "settings.json")
  return existsSync(file) && !/[/\\]/.test(profile)
    ? Effect.succeed(file)
    : new BadArgument({
        message: `There is no profile '${profile}'.`,
        hint: "'gateway setup-claude' writes one for each family of models."
      })
}

const run = (tool: Launcher, given: LaunchFlags): Effect.Effect<void, CliFailure> =>
  Effect.scoped(
    Effect.gen(function* () {
      const { dataDir, environment } = yield* EnvFile.loadConfig
      const to = yield* Client.target(given)
      const profile = yield* profileOf(tool, given, environment.get("HOME") || homedir(), environment)
      const known = Option.getOrElse(
        Option.map(given.token, Redacted.value),
        () => environment.get("GATEWAY_API_KEY") ?? null
      )
      const apiKey = known ?? (yield* lasting(tool, to)).secret
      const model = Option.getOrElse(given.model, () => (profile === null ? "auto" : null))
      const { args, command, environment: own } = tool.launch({ origin: to.url, apiKey, model, profile })
      const inherited = yield* environmentOf(dataDir, environment)
      const ended = yield* exec(command, [...args, ...given.args], { ...inherited, ...own })
      if (ended._tag === "NotStarted") {
        return yield* new CommandFailed({
          message: `${tool.name} cannot be started: '${command}' ${ended.code === "ENOENT" ? "is not on the PATH" : `failed with ${ended.code}`}.`,
          hint: `Install it: ${tool.install}`
        })
      }
      process.exitCode = ended.code
    })
  )

const ids = launchers.map(({ id }) => id)

const toolNamed = (name: string): Effect.Effect<Launcher, BadArgument> => {
  const tool = launchers.find(({ id }) => id === name)
  if (tool !== undefined) return Effect.succeed(tool)
  const [near] = closest(name, ids, 1)
  return new BadArgument({
    message: `'${name}' is no tool that can be launched.`,
    hint: near === undefined ? `There are ${ids.join(", ")}.` : `Did you mean '${near}'?`
  })
}

const words = Args.text({ name: "tool" }).pipe(
  Args.withDescription(`${ids.join(", ")}; then what is for the tool, behind '--'. Default: claude.`),
  Args.repeated
)

export const launchCommand = Command.make("launch", { words, ...flags }, ({ words: given, ...more }) =>
  Effect.gen(function* () {
    const [first, ...others] = given
    // Words that begin with a dash are for the tool.
    const isNamed = first !== undefined && !first.startsWith("-")
    const tool = yield* toolNamed(isNamed ? first : "claude")
    yield* run(tool, { ...more, args: isNamed ? others : given })
  })
)

export const launchCodex = Command.make("launch-codex", { args: rest, ...flags }, (given) =>
  Effect.flatMap(toolNamed("codex"), (tool) => run(tool, given))
)
