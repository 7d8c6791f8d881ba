/** Coding tools on the gateway's machine: how they are set up, and setting them up. */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { type Lane, makeLane } from "../../kernel/Lane.ts"
import type { WriteToolSettings } from "./routes.ts"
import type { ApiKeySettings } from "../keys/entity.ts"
import { maskSecret } from "../../kernel/text/Masking.ts"
import { AppConfig } from "../../platform/AppConfig.ts"
import * as ConfigFile from "../../platform/files/ConfigFile.ts"
import type { StoreError } from "../../store/Errors.ts"
import { choose, type Chosen, type OfferedModel } from "../../agents/tools/config/Chosen.ts"
import { isUnreadable, type Path, valueAt } from "../../agents/tools/config/formats/Format.ts"
import { formats } from "../../agents/tools/config/formats/index.ts"
import type { Places, ToolFile, ToolPlan, ToolSetup } from "../../agents/tools/config/ToolSetup.ts"
import { carryOut, presentOf } from "../../agents/tools/files/SetUp.ts"
import { keyNameOf, placesIn } from "../../agents/tools/files/Machine.ts"
import * as Records from "../../agents/tools/files/Records.ts"
import * as Errors from "../Errors.ts"
import { Keys } from "../keys/service.ts"
import { type CatalogRow, ModelCatalog } from "../catalog/service.ts"

/** The tool cannot be set up here, for a reason that is no fault of the request. */
export class ToolRefused extends Data.TaggedError("ToolRefused")<{ readonly message: string }> {}

export interface FileState {
  readonly path: string
  readonly exists: boolean
  readonly values: Readonly<Record<string, unknown>>
}

export interface ToolState {
  readonly configured: boolean
  readonly keyId: string | null
  readonly files: ReadonlyArray<FileState>
}

export class ToolSettings extends Context.Tag("gateway/subjects/tools/ToolSettings")<
  ToolSettings,
  {
    readonly read: (tool: ToolSetup) => Effect.Effect<ToolState, ToolRefused>
    /** `origin`: the address of this gateway, where the input has none. */
    readonly write: (
      tool: ToolSetup,
      origin: string,
      input: WriteToolSettings
    ) => Effect.Effect<
      { readonly path: string; readonly backupPath: string | null },
      ToolRefused | Errors.InvalidInput | Errors.EntityNotFound | StoreError
    >
  }
>() {}

const offeredOf = ({ converses, facts, id, kind, price }: CatalogRow): OfferedModel => ({
  id,
  kind,
  converses,
  contextLength: facts?.contextLength ?? null,
  maxOutputTokens: facts?.maxOutputTokens ?? null,
  vision: facts?.vision ?? null,
  reasoning: facts?.reasoning ?? null,
  price: price === null ? null : { input: price.price.input, output: price.price.output }
})

const nothing: OfferedModel = {
  id: "auto",
  kind: "auto",
  converses: true,
  contextLength: null,
  maxOutputTokens: null,
  vision: null,
  reasoning: null,
  price: null
}

const empty: Chosen = { models: [nothing], model: nothing, small: nothing }

/** Makes the plan of a tool of which only the places in files matter. */
const blankPlan = (tool: ToolSetup, places: Places): ToolPlan => tool.plan(places, { origin: "", apiKey: "", ...empty })

const nameOf = (path: Path): string => path.map((step) => (typeof step === "string" ? step : step.is)).join(".")

const secretName = /key|token|secret/i

/** Nothing of a file is shown but what setting up writes; keys, also within what is written as a whole, are masked. */
const shown = (value: unknown, name: string): unknown => {
  if (typeof value === "string") return secretName.test(name) ? maskSecret(value) : value
  if (Array.isArray(value)) return value.map((each: unknown) => shown(each, name))
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([inner, each]) => [inner, shown(each, inner)]))
}

const refuse = ({ message }: { readonly message: string }) => new ToolRefused({ message })

const services = Effect.all({ catalog: ModelCatalog, config: AppConfig, keys: Keys })
interface Deps extends Effect.Effect.Success<typeof services> {
  /** Two at a time would both read before either writes. */
  readonly alone: Lane
}

const places = ({ config: { environment } }: Deps) =>
  Effect.suspend(() => {
    const home = environment.get("HOME") || environment.get("USERPROFILE")
    return home
      ? Effect.succeed(placesIn(home, environment))
      : new ToolRefused({ message: "The gateway was started without HOME: it does not know whose tools to set up." })
  })

const stateOf = ({ edits, format, path }: ToolFile, home: string) =>
  Effect.gen(function* () {
    const { text } = yield* ConfigFile.read(path, home)
    const root = formats[format].parse(text ?? "")
    if (isUnreadable(root)) return yield* new ConfigFile.ConfigFileRefused({ path, problem: root.message })
    const values = edits.flatMap((edit) => {
      const value = valueAt(root, edit.path)
      const name = nameOf(edit.path)
      return value === undefined ? [] : [[name, shown(value, name)] as const]
    })
    return { path, exists: text !== null, values: Object.fromEntries(values) } satisfies FileState
  })

const read = Effect.fn("ToolSettings.read")(function* (deps: Deps, tool: ToolSetup) {
  const here = yield* places(deps)
  const { [tool.id]: record } = yield* Effect.mapError(Records.read(Records.recordsFile(here), here.home), refuse)
  const files = yield* Effect.mapError(
    Effect.forEach(blankPlan(tool, here).files, (file) => stateOf(file, here.home)),
    refuse
  )
  return { configured: record !== undefined, keyId: record?.keyId ?? null, files }
})

const chosenFor = Effect.fnUntraced(function* ({ catalog }: Deps, model: string | undefined) {
  const rows = yield* catalog.list(null)
  const offered = rows.filter(({ facts }) => facts?.toolCalling !== false).map(offeredOf)
  const chosen = choose(offered, model ?? null, [])
  return typeof chosen === "string"
    ? yield* new Errors.InvalidInput({ problems: [{ field: "model", message: chosen }] })
    : chosen
})

/** Chooses the rules of a key: those of an existing one; else for the models that the tool is set up with. */
const rulesFor = Effect.fnUntraced(function* (
  { keys }: Deps,
  tool: ToolSetup,
  { models }: Chosen,
  apiKeyId: string | undefined
) {
  const name = keyNameOf(tool)
  if (apiKeyId !== undefined) {
    const { hash: _, id: __, oldSecrets: ___, prefix: ____, ...settings } = yield* keys.get(apiKeyId)
    return { ...settings, name, scopes: ["self:usage"] } satisfies ApiKeySettings
  }
  return { name, allowedModels: models.filter(({ kind }) => kind !== "auto").map(({ id }) => id) }
})

/** The key that the tool has already and that still works; it may use the tool's models afterwards. */
const kept = Effect.fnUntraced(function* (
  { keys }: Deps,
  key: { readonly id: string | null; readonly secret: string } | null,
  rules: { readonly name: string; readonly allowedModels?: ReadonlyArray<string> | null }
) {
  if (key === null || key.id === null) return null
  const found = yield* Effect.option(keys.get(key.id))
  if (found._tag === "None" || !found.value.isActive || !key.secret.startsWith(found.value.prefix)) return null
  yield* Effect.ignore(keys.update(key.id, { allowedModels: rules.allowedModels ?? null }))
  return { id: key.id, secret: key.secret, isNew: false }
})

const write = Effect.fn("ToolSettings.write")(
  function* (deps: Deps, tool: ToolSetup, origin: string, { apiKeyId, baseUrl, model }: WriteToolSettings) {
    const here = yield* places(deps)
    const gateway = (baseUrl ?? origin).replace(/\/+$/, "")
    const chosen = yield* chosenFor(deps, model)
    const planWith = (apiKey: string): ToolPlan => tool.plan(here, { origin: gateway, apiKey, ...chosen })
    const main = planWith("").files.find(({ keyAt }) => keyAt !== undefined)
    if (main === undefined) {
      return yield* new ToolRefused({ message: `${tool.name} has no file for this; see 'gateway setup-${tool.id}'.` })
    }
    const rules = yield* rulesFor(deps, tool, chosen, apiKeyId)
    const present = yield* Effect.mapError(presentOf(tool.id, planWith("<key>"), here), refuse)
    const { former } = present
    const isSame = former?.gateway === gateway && apiKeyId === undefined
    const known = isSame ? yield* kept(deps, present.key, rules) : null
    const key =
      known ??
      (yield* Effect.map(
        "isActive" in rules ? deps.keys.issue(rules, "gw_", (_, insert) => insert) : deps.keys.create(rules),
        (made) => ({ id: made.key.id, secret: Redacted.value(made.secret), isNew: true })
      ))
    const { written } = yield* carryOut(tool.id, planWith(key.secret), present, here, { gateway, keyId: key.id }).pipe(
      Effect.mapError(refuse),
      // A key that is in no file is of no use.
      Effect.onError(() => (key.isNew ? Effect.ignore(deps.keys.remove(key.id)) : Effect.void))
    )
    const before = former?.keyId ?? null
    if (before !== null && before !== key.id) yield* Effect.ignore(deps.keys.remove(before))
    return {
      path: main.path,
      backupPath: written.find(({ path }) => path === main.path)?.backupPath ?? null
    }
  },
  (effect, { alone }) => alone.inTurn(effect)
)

export const make = Effect.gen(function* () {
  const all = yield* services
  const alone = makeLane(1)
  const deps: Deps = { ...all, alone }

  return ToolSettings.of({
    read: (tool) => read(deps, tool),
    write: (tool, origin, settings) => write(deps, tool, origin, settings)
  })
})

export const layer: Layer.Layer<ToolSettings, never, AppConfig | Keys | ModelCatalog> = Layer.effect(ToolSettings, make)
