/** `gateway plugin install`, `list`, `show`, `activate`, `deactivate`, `config`, `logs`, `remove` and `marketplace`. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { existsSync } from "node:fs"
import { LogView, OffersView, type OfferView, PluginsAnswer, PluginView, ScanView } from "../routes.ts"
import { Conflict } from "../../../contract/Errors.ts"
import { PluginPermission } from "../entity.ts"
import { confirm, confirmOnTerminal, yes } from "../../../cli/asking/confirm.ts"
import { canAsk } from "../../../cli/asking/terminal.ts"
import { BadArgument, CommandFailed } from "../../../cli/Failure.ts"
import * as Client from "../../../cli/gateway/Client.ts"
import { loadModule } from "../../../cli/lazy.ts"
import * as Column from "../../../cli/output/Column.ts"
import * as Output from "../../../cli/output/Output.ts"
import { listed, readProject } from "./project.ts"
import { asking } from "../../../cli/verbs/asking.ts"

const name = Args.text({ name: "plugin" }).pipe(Args.withDescription("Name of the plugin."))
const One = Schema.Struct({ plugin: PluginView })

const grant = Options.choice("grant", PluginPermission.literals).pipe(
  Options.withDescription("A permission to grant. May be given several times."),
  Options.repeated
)

const columns: ReadonlyArray<Column.Column<PluginView>> = [
  Column.name("NAME", (plugin) => plugin.name),
  Column.text("VERSION", ({ version }) => version),
  Column.text("STATUS", ({ status }) => status, { fit: "keep" }),
  Column.text("EVENTS", ({ hooks }) => Object.keys(hooks).join(", ")),
  Column.text("GRANTED", ({ permissions }) => permissions.granted.join(", ")),
  Column.number("CALLS", ({ stats }) => stats.calls),
  Column.number("FAILED", ({ stats }) => stats.failed),
  Column.number(
    "P99 MS",
    ({ stats }) => stats.p99Ms,
    (ms) => ms.toFixed(1)
  ),
  Column.text("SOURCE", ({ source }) => source, { in: "wide" }),
  Column.prose("ERROR", ({ lastError }) => lastError)
]

export const pluginList = asking("list", "plugins", {}, function* (client) {
  const value = yield* client.list({ urlParams: {} })
  yield* Output.list({
    schema: PluginsAnswer,
    value,
    rows: value.plugins,
    columns,
    empty: "No plugin is installed. 'gateway plugin marketplace' has some; 'gateway plugin new <name>' begins one."
  })
})

/** The words of each permission, for a person who is to grant it. */
const wordsOf = (permissions: ReadonlyArray<PluginPermission>, hosts: ReadonlyArray<string> | null) =>
  Effect.map(
    loadModule(() => import("../../../agents/plugins/registry/PermissionTexts.ts")),
    ({ permissionWords }) => permissions.map((each) => `  ${each}: ${permissionWords(each, hosts)}`).join("\n")
  )

const shownMs = (ms: number | null): string => (ms === null ? "-" : `${ms.toFixed(1)} ms`)

const page = (plugin: PluginView) =>
  Effect.gen(function* () {
    const { requested, granted } = plugin.permissions
    yield* Output.print(`${plugin.name} ${plugin.version} (${plugin.status})`)
    if (plugin.description !== null) yield* Output.print(plugin.description)
    if (plugin.lastError !== null) yield* Output.print(`error       ${plugin.lastError}`)
    yield* Output.print(`source      ${plugin.source}, ${plugin.integrity}`)
    yield* Output.print(`fails       ${plugin.failClosed ? "closed: requests are refused" : "open: it is skipped"}`)
    for (const [hook, { enabled, priority, stream }] of Object.entries(plugin.hooks)) {
      yield* Output.print(
        `event       ${hook} (${enabled ? `priority ${priority}` : "off"}${stream === "buffer" ? ", holds streams back" : ""})`
      )
    }
    for (const strategy of plugin.strategies) {
      yield* Output.print(`strategy    ${strategy} (routerStrategy of auto combos)`)
    }
    for (const permission of requested) {
      yield* Output.print(`permission  ${permission} (${granted.includes(permission) ? "granted" : "not granted"})`)
    }
    const { blocked, calls, dropped, failed, modified, p50Ms, p99Ms } = plugin.stats
    yield* Output.print(
      `calls       ${calls}: ${modified} changed, ${blocked} blocked, ${failed} failed, ${dropped} dropped; p50 ${shownMs(p50Ms)}, p99 ${shownMs(p99Ms)}`
    )
  })

export const pluginShow = asking("show", "plugins", { name }, function* (client, given) {
  const value = yield* client.get({ path: { name: given.name } })
  yield* Output.result({ schema: One, value, text: page(value.plugin), name: given.name })
})

/**
 * Decides the permissions that this activation grants: the named ones, and on a terminal those that the person agrees
 * to.
 */
const agreed = (
  plugin: PluginView,
  given: { readonly grant: ReadonlyArray<PluginPermission>; readonly yes: boolean }
) =>
  Effect.gen(function* () {
    const { granted, requested } = plugin.permissions
    const missing = requested.filter((each) => !granted.includes(each) && !given.grant.includes(each))
    const asked = requested.filter((each) => !granted.includes(each))
    if (asked.length > 0) {
      yield* Output.note(`${plugin.name} asks to:\n${yield* wordsOf(asked, plugin.hosts)}`)
    }
    if (missing.length === 0) return given.grant
    if (!(yield* canAsk)) {
      return yield* new BadArgument({
        message: `${plugin.name} asks for permissions that were not granted: ${missing.join(", ")}.`,
        hint: `Grant them with ${missing.map((each) => `--grant ${each}`).join(" ")}.`
      })
    }
    yield* confirmOnTerminal({ yes: false }, `Grant ${missing.join(", ")}?`)
    return [...given.grant, ...missing]
  })

const activated = (
  to: Client.Target,
  plugin: PluginView,
  given: { readonly grant: ReadonlyArray<PluginPermission>; readonly yes: boolean }
) =>
  Effect.gen(function* () {
    const client = yield* Client.group(to, "plugins")
    const payload = { grant: yield* agreed(plugin, given) }
    return yield* client.activate({ path: { name: plugin.name }, payload }).pipe(Client.orExplain(to))
  })

export const pluginActivate = asking("activate", "plugins", { name, grant, yes }, function* (client, given, to) {
  const { plugin } = yield* client.get({ path: { name: given.name } })
  const value = yield* activated(to, plugin, given)
  yield* Output.result({
    schema: One,
    value,
    text: Output.note(`${given.name} is called from now on.`),
    name: given.name
  })
})

export const pluginDeactivate = asking("deactivate", "plugins", { name }, function* (client, given) {
  const value = yield* client.deactivate({ path: { name: given.name } })
  yield* Output.result({
    schema: One,
    value,
    text: Output.note(`${given.name} is not called any more.`),
    name: given.name
  })
})

export const pluginRemove = Command.make("remove", { name, yes, ...Client.connection }, (given) =>
  Effect.gen(function* () {
    yield* confirm(given, `Remove ${given.name} with its data and settings?`)
    const to = yield* Client.target(given)
    const client = yield* Client.group(to, "plugins")
    yield* client.remove({ path: { name: given.name } }).pipe(Client.orExplain(to))
    yield* Output.done({ removed: given.name }, `${given.name} is removed.`, given.name)
  })
)

const what = Args.text({ name: "plugin" }).pipe(
  Args.withDescription("A folder, a packed file, or a name of the marketplace.")
)
const Installed = Schema.Struct({ plugin: PluginView, warnings: Schema.Array(Schema.String) })

/** A path is one that is there, or looks like one. */
const isPath = (word: string): boolean => /[./\\]/.test(word) || existsSync(word)

const taken = (error: unknown): error is Conflict => error instanceof Conflict && error.code === "plugin_exists"

const installed = (to: Client.Target, word: string, replace: boolean, activates: boolean) =>
  Effect.gen(function* () {
    const client = yield* Client.group(to, "plugins")
    if (!isPath(word)) {
      return yield* client.installOffer({ path: { name: word } }).pipe(
        // It was installed before, and is to be activated now. One that came from elsewhere is another plugin of that name.
        Effect.catchIf(
          (error): error is Conflict => activates && taken(error),
          (error) =>
            Effect.flatMap(client.get({ path: { name: word } }), ({ plugin }) =>
              plugin.source === "marketplace" ? Effect.succeed({ plugin, warnings: [] }) : Effect.fail(error)
            )
        ),
        Client.orExplain(to)
      )
    }
    const project = yield* readProject(word)
    if (project.problems.length > 0) return yield* listed(project.problems)
    const payload = { manifest: project.written, files: Object.fromEntries(project.files), replace }
    return yield* client.install({ payload }).pipe(
      Effect.catchIf(taken, () =>
        Effect.fail(
          new CommandFailed({
            message: `There is already a plugin '${project.read.manifest?.name ?? word}'.`,
            hint: "Give --replace to put this one in its place."
          })
        )
      ),
      Client.orExplain(to)
    )
  })

export const pluginInstall = Command.make(
  "install",
  {
    plugin: what,
    grant,
    activate: Options.boolean("activate").pipe(Options.withDescription("Activate it at once.")),
    replace: Options.boolean("replace").pipe(Options.withDescription("Put it in the place of the one of its name.")),
    yes,
    ...Client.connection
  },
  (given) =>
    Effect.gen(function* () {
      const to = yield* Client.target(given)
      const made = yield* installed(to, given.plugin, given.replace, given.activate)
      for (const warning of made.warnings) yield* Output.note(warning)
      const isOn = made.plugin.status === "active"
      const plugin = given.activate && !isOn ? (yield* activated(to, made.plugin, given)).plugin : made.plugin
      const { name: its, status } = plugin
      const sentence =
        status === "active"
          ? `${its} is installed and called from now on.`
          : `${its} is installed. 'gateway plugin activate ${its}' starts it.`
      yield* Output.result({ schema: Installed, value: { ...made, plugin }, text: Output.note(sentence), name: its })
    })
)

const pairs = Args.text({ name: "key=value" }).pipe(
  Args.withDescription("Settings to change; without a value the default is in force again."),
  Args.repeated
)

const valueOf = (type: string, text: string): unknown => {
  if (text === "") return null
  if (type === "number" && text.trim() !== "" && Number.isFinite(Number(text))) return Number(text)
  if (type === "boolean" && (text === "true" || text === "false")) return text === "true"
  return text
}

const ConfigAnswer = Schema.Struct({ schema: Schema.Unknown, values: Schema.Unknown })

export const pluginConfig = asking("config", "plugins", { name, pairs }, function* (client, given) {
  const path = { name: given.name }
  const before = yield* client.config({ path })
  const wrong = given.pairs.find((pair) => !pair.includes("="))
  if (wrong !== undefined) {
    return yield* new BadArgument({ message: `'${wrong}' is no setting.`, hint: "Write them as key=value." })
  }
  const values = Object.fromEntries(
    given.pairs.map((pair) => {
      const at = pair.indexOf("=")
      const key = pair.slice(0, at)
      const field = before.schema[key]
      const choice = field?.enum?.find((each) => String(each) === pair.slice(at + 1))
      return [key, choice ?? valueOf(field?.type ?? "string", pair.slice(at + 1))]
    })
  )
  const value = given.pairs.length === 0 ? before : yield* client.setConfig({ path, payload: { values } })
  const rows = Object.entries(value.schema).map(([key, field]) => ({ key, field, value: value.values[key] ?? null }))
  yield* Output.result({
    schema: ConfigAnswer,
    value,
    text: Output.rows(
      rows,
      [
        Column.name("SETTING", ({ key }) => key),
        Column.text("VALUE", ({ value: set }) => (set === null ? null : String(set)), { fit: "keep" }),
        Column.text("TYPE", ({ field }) => field.type),
        Column.prose("MEANING", ({ field }) => field.description)
      ],
      `${given.name} has no settings.`
    ),
    name: given.name
  })
})

const logColumns: ReadonlyArray<Column.Column<LogView>> = [
  Column.name("AT", ({ at }) => at),
  Column.text("LEVEL", ({ level }) => level),
  Column.text("EVENT", ({ hook }) => hook),
  Column.prose("LINE", ({ message }) => message)
]

const Logs = Schema.Struct({ logs: Schema.Array(LogView) })
const followMs = 1_000

export const pluginLogs = Command.make(
  "logs",
  {
    name,
    limit: Options.integer("limit").pipe(
      Options.withDescription("How many lines; at most 200."),
      Options.withDefault(50)
    ),
    follow: Options.boolean("follow").pipe(Options.withAlias("f"), Options.withDescription("Go on until Ctrl-C.")),
    ...Client.connection
  },
  (given) =>
    Effect.gen(function* () {
      if (given.limit < 1 || given.limit > 200)
        return yield* new BadArgument({ message: "--limit must be from 1 to 200." })
      const to = yield* Client.target(given)
      const client = yield* Client.group(to, "plugins")
      const path = { name: given.name }
      const line = ({ at, hook, level, message }: LogView): string =>
        `${at} ${level.padEnd(5)} ${hook ?? "-"} ${message}`
      const lines = (limit: number) => client.logs({ path, urlParams: { limit } }).pipe(Client.orExplain(to))
      const value = yield* lines(given.limit)
      if (!given.follow) {
        return yield* Output.list({
          schema: Logs,
          value,
          rows: value.logs,
          columns: logColumns,
          empty: `${given.name} has written nothing since the gateway started.`
        })
      }
      let shown = value.logs
      for (const each of shown) yield* Output.print(line(each))
      while (true) {
        yield* Effect.sleep(followMs)
        const { logs } = yield* lines(200)
        const last = shown.at(-1)
        const from =
          last === undefined
            ? 0
            : logs.findLastIndex(({ at, message }) => at === last.at && message === last.message) + 1
        for (const each of logs.slice(from)) yield* Output.print(line(each))
        shown = logs
      }
    })
)

const offerColumns: ReadonlyArray<Column.Column<OfferView>> = [
  Column.name("NAME", (offer) => offer.name),
  Column.text("VERSION", ({ version }) => version),
  Column.yesNo("INSTALLED", (offer) => offer.installed),
  Column.text("PERMISSIONS", ({ permissions }) => permissions.join(", ")),
  Column.prose("DESCRIPTION", ({ description }) => description),
  Column.text("HASH", ({ integrity }) => integrity, { in: "wide" })
]

export const pluginMarketplace = asking("marketplace", "plugins", {}, function* (client) {
  const value = yield* client.marketplace()
  yield* Output.list({
    schema: OffersView,
    value,
    rows: value.plugins,
    columns: offerColumns,
    empty: "The marketplace is empty."
  })
  if (value.remoteError !== null)
    yield* Output.remark(`Those of the list elsewhere are not shown: ${value.remoteError}.`)
})

type FoundView = (typeof ScanView.Type)["found"][number]

const foundColumns: ReadonlyArray<Column.Column<FoundView>> = [
  Column.name("NAME", (found) => found.name),
  Column.text("STATUS", ({ status }) => status, { fit: "keep" }),
  Column.text("PROBLEM", ({ errors }) => errors.map(({ field, message }) => `${field}: ${message}`).join("; "))
]

export const pluginScan = asking("scan", "plugins", {}, function* (client) {
  const value = yield* client.scan()
  yield* Output.list({
    schema: ScanView,
    value,
    rows: value.found,
    columns: foundColumns,
    empty: "There is no plugin in the folder."
  })
})
