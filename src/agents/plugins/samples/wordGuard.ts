/** Refuses requests with words of a list. Where it fails, requests are refused as well. */
import type { Sample } from "./Sample.ts"

export const wordGuard: Sample = {
  manifest: {
    name: "word-guard",
    version: "1.0.0",
    description: "Refuses requests that hold a word of a list. Where it fails, requests are refused as well.",
    author: "gateway",
    license: "MIT",
    tags: ["guard"],
    main: "index.js",
    hooks: { onRequest: { priority: 10 } },
    failClosed: true,
    configSchema: {
      words: {
        type: "string",
        default: "",
        description: "Words that are refused, with commas between; letter case does not count."
      },
      message: {
        type: "string",
        max: 500,
        default: "This request holds a word that is not allowed here.",
        description: "What the client is told."
      }
    }
  },
  files: {
    "index.js": `import { blockRequest, definePlugin } from "gateway/plugin"

const wordsOf = (words) =>
  String(words ?? "").toLowerCase().split(",").map((word) => word.trim()).filter((word) => word !== "")

/** Whether any text in the value, or any name of a member, holds one of the words. */
const holds = (value, words) => {
  const open = [value]
  while (open.length > 0) {
    const next = open.pop()
    if (typeof next === "string") {
      const text = next.toLowerCase()
      if (words.some((word) => text.includes(word))) return true
    } else if (next !== null && typeof next === "object") {
      for (const [name, member] of Object.entries(next)) open.push(name, member)
    }
  }
  return false
}

export default definePlugin({
  name: "word-guard",
  onRequest: ({ body, config }) => {
    const words = wordsOf(config.words)
    if (words.length === 0 || !holds(body, words)) return
    return blockRequest({ status: 403, error: { message: config.message, code: "word_not_allowed" } })
  }
})
`
  },
  integrity: "sha256-zdT85ySbGOPkfPjHhDLZPweC04YTWtq1IrceEC8mE9A="
}
