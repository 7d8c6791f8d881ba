/** Changes of files that set up a coding tool. Pure. */
import { isAbsolute, join } from "node:path"
import type { Edit } from "./Edits.ts"
import type { FormatName } from "./formats/index.ts"

/** Model for the settings of a tool; null: unknown. */
export interface ToolModel {
  /** Name for requests. */
  readonly id: string
  readonly contextLength: number | null
  readonly maxOutputTokens: number | null
  readonly vision: boolean | null
  readonly reasoning: boolean | null
  /** USD per 1,000,000 tokens. The cache's are absent where tokens of it cost what others do. */
  readonly price: {
    readonly input: number
    readonly output: number
    readonly cacheRead?: number
    readonly cacheWrite?: number
  } | null
}

export interface Gateway {
  /** Address without a path and without a slash at its end. */
  readonly origin: string
  readonly apiKey: string
  /** Models that the tool shows. */
  readonly models: ReadonlyArray<ToolModel>
  /** Model that it begins with. */
  readonly model: ToolModel
  /** A cheap one for small work; the same where none is known. */
  readonly small: ToolModel
}

/** Limits for tools that need both numbers, where nothing is known. */
export const usualLimits = { context: 128_000, output: 8_192 }

/** Folders of the user. */
export interface Places {
  readonly home: string
  /** `XDG_CONFIG_HOME`, else `~/.config`. */
  readonly configHome: string
  /** `XDG_DATA_HOME`, else `~/.local/share`. */
  readonly dataHome: string
  readonly environment: ReadonlyMap<string, string>
  /** Checks whether a file exists; tools have several names for theirs. */
  readonly exists: (path: string) => boolean
}

export interface ToolFile {
  readonly path: string
  readonly format: FormatName
  readonly edits: ReadonlyArray<Edit>
  /** The path of the edit whose value is the key, in this file; absent: the file has none. */
  readonly keyAt?: Edit["path"]
}

export interface ToolPlan {
  readonly files: ReadonlyArray<ToolFile>
  /** Lines for people on what to do next, or what cannot be done by a file. */
  readonly notes: ReadonlyArray<string>
}

export interface ToolSetup {
  /** Id as in `gateway setup-<id>`. */
  readonly id: string
  readonly name: string
  /** Program that is started; null: it is a part of an editor. */
  readonly program: string | null
  /** Address of the description of its configuration. */
  readonly docsUrl: string
  readonly plan: (places: Places, gateway: Gateway) => ToolPlan
}

/** A relative one is to be ignored (XDG base directory specification). */
const absolute = (folder: string | undefined): string | null =>
  folder !== undefined && isAbsolute(folder) ? folder : null

export const placesOf = (
  home: string,
  environment: ReadonlyMap<string, string>,
  exists: (path: string) => boolean
): Places => ({
  home,
  configHome: absolute(environment.get("XDG_CONFIG_HOME")) ?? join(home, ".config"),
  dataHome: absolute(environment.get("XDG_DATA_HOME")) ?? join(home, ".local/share"),
  environment,
  exists
})

/** The first of these that is there; else the first. */
export const firstThere = ({ exists }: Places, ...paths: readonly [string, ...ReadonlyArray<string>]): string =>
  paths.find(exists) ?? paths[0]
