/** Replaces words in answers, also of streams, which are held back for it. */
import type { Sample } from "./Sample.ts"

export const answerFilter: Sample = {
  manifest: {
    name: "answer-filter",
    version: "1.0.0",
    description: "Replaces words in answers. Streams are held back until they are whole.",
    author: "gateway",
    license: "MIT",
    tags: ["filter"],
    main: "index.js",
    hooks: { onResponse: { priority: 80, stream: "buffer" } },
    configSchema: {
      words: {
        type: "string",
        default: "",
        description: "What is replaced, with commas between; letter case does not count."
      },
      replacement: { type: "string", max: 200, default: "[removed]", description: "What stands there instead." }
    }
  },
  files: {
    "index.js": `import { definePlugin } from "gateway/plugin"

const escaped = (word) => word.replace(/[.*+?^\${}()|[\\]\\\\]/g, "\\\\$&")

const patternOf = (words) => {
  const all = String(words ?? "").split(",").map((word) => word.trim()).filter((word) => word !== "")
  return all.length === 0 ? null : new RegExp(all.map(escaped).join("|"), "gi")
}

/** Members of all wires that hold text a person reads. Names, ids and signatures are left alone. */
const textual = new Set(["content", "text", "output_text", "reasoning_content", "thinking", "refusal", "response"])

const filtered = (value, pattern, replacement, name = "") => {
  if (typeof value === "string") return textual.has(name) ? value.replace(pattern, () => replacement) : value
  if (Array.isArray(value)) return value.map((each) => filtered(each, pattern, replacement, name))
  if (value === null || typeof value !== "object") return value
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, filtered(member, pattern, replacement, key)])
  )
}

export default definePlugin({
  name: "answer-filter",
  onResponse: ({ config }, { body }) => {
    const pattern = patternOf(config.words)
    if (pattern === null || body === null) return
    const changed = filtered(body, pattern, config.replacement)
    if (JSON.stringify(changed) !== JSON.stringify(body)) return { body: changed }
  }
})
`
  },
  integrity: "sha256-SqTCxU0VDsFdnRzDWgvhLeeZ14xKLDnh0+D/HsGOxEI="
}
