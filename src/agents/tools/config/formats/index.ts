import { dotEnv } from "./DotEnv.ts"
import type { Format } from "./Format.ts"
import { jsonc } from "./Jsonc.ts"
import { toml } from "./Toml.ts"
import { yaml } from "./Yaml.ts"

export type FormatName = "json" | "yaml" | "toml" | "env"

export const formats: Readonly<Record<FormatName, Format>> = { json: jsonc, yaml, toml, env: dotEnv }
