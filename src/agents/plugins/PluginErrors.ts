/** Refusals about plugins. The fields are facts; `message` is a sentence for people. */
import * as Data from "effect/Data"
import type { FieldProblem } from "../../contract/domain/Errors.ts"
import type { PluginPermission } from "../../subjects/plugins/entity.ts"
import { asSentence } from "../../kernel/text/Sentence.ts"

export class PluginNotFound extends Data.TaggedError("PluginNotFound")<{
  readonly name: string
  readonly where: "installed" | "marketplace"
}> {
  override get message(): string {
    return this.where === "installed"
      ? `There is no plugin '${this.name}'.`
      : `The marketplace has no plugin '${this.name}'.`
  }
}

/** Error of an invalid plugin, with at least one problem. */
export class PluginInvalid extends Data.TaggedError("PluginInvalid")<{
  readonly problems: readonly [FieldProblem, ...ReadonlyArray<FieldProblem>]
}> {
  override get message(): string {
    return this.problems.map(({ field, message }) => `${field}: ${message}`).join("; ")
  }
}

const existing = {
  plugin: (name: string) => `There is already a plugin '${name}'. Send replace: true to put this one in its place.`,
  folder: (name: string) =>
    `There are already files in the folder of '${name}'. Take them over with a scan, or remove them.`,
  same: (name: string) => `The plugin '${name}' is installed already, with the same files.`,
  local: (name: string) =>
    `There is already a plugin '${name}' that is not from the marketplace. Remove it before you install this one.`
}

/**
 * `by`: a plugin, or files in its folder that were not scanned yet. Of an offer of the marketplace: a plugin with the very files of it, or one
 * that came from elsewhere.
 */
export class PluginExists extends Data.TaggedError("PluginExists")<{
  readonly name: string
  readonly by: keyof typeof existing
}> {
  override get message(): string {
    return existing[this.by](this.name)
  }
}

export class TooManyPlugins extends Data.TaggedError("TooManyPlugins")<{ readonly limit: number }> {
  override get message(): string {
    return `There are ${this.limit} plugins already, the limit. Remove one first.`
  }
}

export class PermissionsNotGranted extends Data.TaggedError("PermissionsNotGranted")<{
  readonly name: string
  readonly missing: ReadonlyArray<PluginPermission>
}> {
  override get message(): string {
    return `'${this.name}' asks for permissions that were not granted: ${this.missing.join(", ")}. Grant them with 'grant', or do not activate it.`
  }
}

export class ExecNotAllowed extends Data.TaggedError("ExecNotAllowed")<{ readonly name: string }> {
  override get message(): string {
    return `'${this.name}' asks to start programs. That needs GATEWAY_PLUGINS_ALLOW_EXEC=1 in the environment of the gateway, besides the grant.`
  }
}

/** The code of an installed plugin could not be loaded, or its files are not those that were installed. */
export class PluginNotStarted extends Data.TaggedError("PluginNotStarted")<{
  readonly name: string
  readonly reason: string
  readonly changed: boolean
}> {
  override get message(): string {
    return `'${this.name}' was not started: ${this.reason}`
  }
}

/** The list of plugins elsewhere, or a plugin of it, could not be had. Nothing was installed. */
export class MarketplaceFailed extends Data.TaggedError("MarketplaceFailed")<{ readonly reason: string }> {
  override get message(): string {
    return `The marketplace did not give the plugin: ${asSentence(this.reason)}`
  }
}
