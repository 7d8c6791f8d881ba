/** Sums up what requests cost, in a file of its own. */
import type { Sample } from "./Sample.ts"

export const costTracker: Sample = {
  manifest: {
    name: "cost-tracker",
    version: "1.0.0",
    description: "Sums up requests, tokens and cost by day and model in costs.json of its data folder.",
    author: "gateway",
    license: "MIT",
    tags: ["cost"],
    main: "index.js",
    hooks: { onResponse: true, onStreamEnd: true },
    requires: { permissions: ["file-read", "file-write"] },
    configSchema: {
      days: { type: "number", min: 1, max: 400, default: 31, description: "Days that are kept." },
      warnAboveUsd: {
        type: "number",
        min: 0,
        default: 0,
        description: "Warns in its log above so much a day; 0: never."
      }
    }
  },
  files: {
    "index.js": `import { definePlugin } from "gateway/plugin"

const file = "costs.json"
let sums = null
let warnedOn = ""

const load = async () => {
  if (sums !== null) return sums
  let read = {}
  try {
    read = JSON.parse(await fs.readFile(file))
  } catch {
    // The first run, or a file that somebody broke.
  }
  // Another call may have been here while this one was reading.
  sums ??= read
  return sums
}

const add = async ({ config, model, timestamp }, { costUsd, tokens }) => {
  const days = await load()
  const day = new Date(timestamp).toISOString().slice(0, 10)
  days[day] ??= { requests: 0, tokensIn: 0, tokensOut: 0, costUsd: 0, models: {} }
  const sum = days[day]
  sum.requests += 1
  sum.tokensIn += tokens.in
  sum.tokensOut += tokens.out
  sum.costUsd += costUsd
  sum.models[model] = (sum.models[model] ?? 0) + costUsd
  for (const old of Object.keys(days).sort().slice(0, -config.days)) delete days[old]
  if (config.warnAboveUsd > 0 && sum.costUsd > config.warnAboveUsd && warnedOn !== day) {
    warnedOn = day
    console.warn(\`\${day}: \${sum.costUsd.toFixed(4)} USD so far, more than \${config.warnAboveUsd}\`)
  }
  await fs.writeFile(file, JSON.stringify(days, null, 2))
}

export default definePlugin({
  name: "cost-tracker",
  onResponse: async (context, payload) => {
    if (!payload.streamed) await add(context, payload)
  },
  onStreamEnd: (context, payload) => add(context, payload)
})
`
  },
  integrity: "sha256-P8Ee3oKmdsGdok4jkBhpMQR3Y/d0F6dPq7waO7yVZs4="
}
