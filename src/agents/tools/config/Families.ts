/** Families of models, for profiles: those of one maker's line. A model of no known line belongs to its provider's. Pure. */
import type { ToolModel } from "./ToolSetup.ts"

/** The last that fits counts: `gpt-oss` is none of `gpt`, and a distilled model is of the line that it was made of. */
const lines: ReadonlyArray<readonly [name: string, ids: RegExp]> = [
  ["claude", /claude/],
  ["gpt", /(?:^|\/)(?:gpt|o\d|codex)/],
  ["gemini", /gemini/],
  ["grok", /grok/],
  ["deepseek", /deepseek/],
  ["kimi", /kimi|moonshot/],
  ["glm", /(?:^|\/)glm/],
  ["minimax", /minimax/],
  ["mistral", /(?:mi|magi|dev|code)stral/],
  ["llama", /llama/],
  ["qwen", /qwen/],
  ["gpt-oss", /gpt-oss/]
]

/** `openai` of `openai/x`; a model without a provider, such as a combo, is of no family. */
const providerOf = (id: string): string | null =>
  id.includes("/") ? (id.split("/")[0] ?? "").replaceAll(/[^\d.a-z-]/g, "-").replace(/^\.+/, "") || null : null

const familyOf = (id: string): string | null =>
  providerOf(id) === null ? null : (lines.findLast(([, ids]) => ids.test(id))?.[0] ?? providerOf(id))

export type Family = readonly [name: string, models: readonly [ToolModel, ...ReadonlyArray<ToolModel>]]

/** The families that there are models of, both in the order of the models. Names are fit for files. */
export const familiesOf = (models: ReadonlyArray<ToolModel>): ReadonlyArray<Family> => {
  const families = new Map<string, [ToolModel, ...Array<ToolModel>]>()
  for (const model of models) {
    const name = familyOf(model.id.toLowerCase())
    if (name === null) continue
    const own = families.get(name)
    if (own === undefined) families.set(name, [model])
    else own.push(model)
  }
  return [...families]
}
