/**
 * `plugin.json`: read field by field, so that an author sees everything that is wrong with it at once. Pure. See docs/plugins.md.
 */
import type { FieldProblem } from "../../../contract/domain/Errors.ts"
import {
  defaultHookTimeoutMs,
  type ManifestHook,
  maxHookTimeoutMs,
  maxPluginNameChars,
  pluginHooks,
  type PluginHook,
  type PluginManifest,
  PluginPermission,
  pluginNameProblem
} from "../../../subjects/plugins/entity.ts"
import { closest } from "../../../kernel/text/Closest.ts"
import { objectOr } from "../../../wire/json/Json.ts"
import { readConfigSchema } from "./ConfigSchema.ts"
import { Fields } from "./Fields.ts"
import { isInRange } from "../../../kernel/text/Versions.ts"

export interface ReadManifest {
  /** Null where there are problems. */
  readonly manifest: PluginManifest | null
  readonly problems: ReadonlyArray<FieldProblem>
  /** Warnings without effect, such as about a field that is not known. */
  readonly warnings: ReadonlyArray<string>
}

export const pluginPermissions: ReadonlyArray<PluginPermission> = PluginPermission.literals

const isHook = (name: string): name is PluginHook => pluginHooks.some((hook) => hook === name)
const isPermission = (name: unknown): name is PluginPermission => pluginPermissions.some((known) => known === name)

const known = [
  "name",
  "version",
  "description",
  "author",
  "license",
  "tags",
  "main",
  "hooks",
  "requires",
  "enabledByDefault",
  "configSchema",
  "failClosed",
  "timeoutMs"
]
/** Fields of other tools; they have no meaning here. */
const ignored: ReadonlySet<string> = new Set(["$schema", "source", "skills", "homepage", "repository", "keywords"])

const versionPattern = /^\d{1,9}\.\d{1,9}\.\d{1,9}(?:-[0-9A-Za-z.-]{1,40})?(?:\+[0-9A-Za-z.-]{1,40})?$/
const labelPattern = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/
const maxTextChars = 1_000
const maxTags = 20
const maxHosts = 50
const maxPriority = 1_000_000

const didYouMean = (name: string, names: ReadonlyArray<string>): string => {
  const near = closest(name, names, 1)
  return near.length === 0 ? "" : ` Did you mean '${near[0]}'?`
}

/** Quotes a word from the manifest. */
const quoted = (word: string): string => `'${word.slice(0, 60)}'`

const hookOf = (fields: Fields, name: PluginHook): ManifestHook | null => {
  const value = fields.value(name)
  const asked = { enabled: true, priority: null, stream: "observe", body: false } as const
  if (typeof value === "boolean") return { ...asked, enabled: value }
  const inner = fields.object(name, "must be true, false or an object")
  if (inner === null) return null
  const isResponse = name === "onResponse"
  inner.only(isResponse ? ["enabled", "priority", "stream", "body"] : ["enabled", "priority", "body"])
  return {
    enabled: inner.boolean("enabled", true),
    priority: inner.number("priority", { min: -maxPriority, max: maxPriority, whole: false }),
    stream: isResponse && inner.oneOf("stream", ["observe", "buffer"]) === "buffer" ? "buffer" : "observe",
    body: inner.boolean("body", false)
  }
}

const hooksOf = (fields: Fields): PluginManifest["hooks"] => {
  const hooks: { [Hook in PluginHook]?: ManifestHook } = {}
  for (const name of fields.names()) {
    if (!isHook(name)) {
      fields.problem(name, `${quoted(name)} is no event.${didYouMean(name, pluginHooks)}`)
      continue
    }
    const hook = hookOf(fields, name)
    if (hook !== null) hooks[name] = hook
  }
  return hooks
}

const permissionsOf = (fields: Fields): ReadonlyArray<PluginPermission> => {
  const list = fields.list("permissions", 100)
  list.forEach((value, at) => {
    if (!isPermission(value)) fields.problem(`permissions.${at}`, `must be one of ${pluginPermissions.join(", ")}`)
  })
  return pluginPermissions.filter((permission) => list.includes(permission))
}

const isHost = (host: string): boolean =>
  host.length <= 253 &&
  host
    .replace(/^\*\./, "")
    .replace(/:\d{1,5}$/, "")
    .split(".")
    .every((label) => labelPattern.test(label))

const hostsOf = (fields: Fields): ReadonlyArray<string> | null => {
  if (fields.value("hosts") === undefined) return null
  const list = fields.list("hosts", maxHosts)
  return list.flatMap((value, at) => {
    const host = typeof value === "string" ? value.toLowerCase() : ""
    if (isHost(host)) return [host]
    fields.problem(
      `hosts.${at}`,
      "must be a host name, such as api.example.com or *.example.com, also with a port, without scheme and path"
    )
    return []
  })
}

const gatewayOf = (fields: Fields, version: string | null): string | null => {
  const range = fields.text("gateway", 200)
  if (range === null) return null
  const fits = isInRange(version ?? "0.0.0", range)
  if (fits === null) fields.problem("gateway", "must be a range of versions, such as >=0.1.0 or ^1.2.0")
  else if (!fits && version !== null) fields.problem("gateway", `needs a gateway of ${range}; this one is ${version}`)
  return range
}

const nameOf = (fields: Fields): string => {
  const name = fields.text("name", maxPluginNameChars) ?? ""
  if (fields.value("name") === undefined) fields.problem("name", "is missing")
  else if (name !== "") {
    const problem = pluginNameProblem(name)
    if (problem !== null) fields.problem("name", problem)
  }
  return name
}

const versionOf = (fields: Fields): string => {
  const version = fields.text("version", 100) ?? ""
  if (fields.value("version") === undefined) fields.problem("version", "is missing")
  else if (version !== "" && !versionPattern.test(version))
    fields.problem("version", "must be a version, such as 1.0.0")
  return version
}

const mainOf = (fields: Fields): string => {
  const main = fields.text("main", 200)
  if (fields.value("main") === undefined) fields.problem("main", "is missing")
  return main ?? ""
}

const tagsOf = (fields: Fields): ReadonlyArray<string> =>
  fields.list("tags", maxTags).flatMap((tag, at) => {
    if (typeof tag === "string" && tag.length > 0 && tag.length <= 64) return [tag]
    fields.problem(`tags.${at}`, "must be a string of 1 to 64 characters")
    return []
  })

/** Reads what JSON gave. `version`: of this gateway; null: whatever it is. */
export const readManifest = (value: unknown, version: string | null): ReadManifest => {
  const fields = Fields.of(value, "")
  if (fields === null) {
    return { manifest: null, problems: [{ field: "manifest", message: "must be an object" }], warnings: [] }
  }
  const warnings: Array<string> = []
  for (const name of fields.names()) {
    if (known.includes(name) || ignored.has(name)) continue
    const near = closest(name, known, 1)[0]
    if (near === undefined) warnings.push(`The manifest's field ${quoted(name)} is not known and means nothing here.`)
    else fields.problem(name, `is not known. Did you mean '${near}'?`)
  }
  const requires = fields.object("requires", "must be an object") ?? fields.empty("requires")
  requires.only(["permissions", "hosts", "gateway"])
  const hooks = fields.object("hooks", "must be an object of events") ?? fields.empty("hooks")
  const manifest: PluginManifest = {
    name: nameOf(fields),
    version: versionOf(fields),
    description: fields.text("description", maxTextChars),
    author: fields.text("author", maxTextChars),
    license: fields.text("license", 100),
    tags: tagsOf(fields),
    main: mainOf(fields),
    hooks: hooksOf(hooks),
    permissions: permissionsOf(requires),
    hosts: hostsOf(requires),
    gateway: gatewayOf(requires, version),
    enabledByDefault: fields.boolean("enabledByDefault", false),
    configSchema: readConfigSchema(fields),
    failClosed: fields.boolean("failClosed", false),
    timeoutMs: fields.number("timeoutMs", { min: 1, max: maxHookTimeoutMs, whole: true }) ?? defaultHookTimeoutMs
  }
  if (manifest.hosts !== null && !manifest.permissions.includes("network")) {
    warnings.push("requires.hosts has no meaning without the permission 'network'.")
  }
  const problems = fields.found()
  return { manifest: problems.length === 0 ? manifest : null, problems, warnings }
}

/** The manifest of an installed plugin, whatever version of the gateway installed it. */
export const storedManifest = ({
  manifest,
  name,
  version
}: {
  readonly name: string
  readonly version: string
  readonly manifest: unknown
}): PluginManifest =>
  readManifest(manifest, null).manifest ?? unreadable(name, version, objectOr(manifest)["failClosed"] === true)

/** Makes the manifest of a guard that cannot be read any more: requests must not bypass it for that. */
const unreadable = (name: string, version: string, failClosed: boolean): PluginManifest => ({
  name,
  version,
  description: null,
  author: null,
  license: null,
  tags: [],
  main: "",
  hooks: failClosed ? { onRequest: { enabled: true, priority: null, stream: "observe", body: false } } : {},
  permissions: [],
  hosts: null,
  gateway: null,
  enabledByDefault: false,
  configSchema: {},
  failClosed,
  timeoutMs: defaultHookTimeoutMs
})
