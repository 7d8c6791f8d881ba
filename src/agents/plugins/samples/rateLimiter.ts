/** Limits requests per value of a header. */
import type { Sample } from "./Sample.ts"

export const rateLimiter: Sample = {
  manifest: {
    name: "rate-limiter",
    version: "1.0.0",
    description: "Limits the requests per minute of each value of a header, such as one per team.",
    author: "gateway",
    license: "MIT",
    tags: ["limit"],
    main: "index.js",
    hooks: { onRequest: { priority: 20 } },
    configSchema: {
      header: { type: "string", min: 1, default: "x-team", description: "The header whose values are counted." },
      perMinute: { type: "number", min: 1, max: 100000, default: 60, description: "Requests per minute and value." },
      withoutHeader: {
        type: "select",
        enum: ["pass", "together", "refuse"],
        default: "together",
        description: "Requests without the header: let them pass, count them together, or refuse them."
      }
    }
  },
  files: {
    "index.js": `import { blockRequest, definePlugin } from "gateway/plugin"

const windowMs = 60000
const mostValues = 10000
/** Value of the header -> when its window began, and how many requests came in it. */
const windows = new Map()

const refused = (status, message, code, headers = {}) => blockRequest({ status, error: { message, code }, headers })

export default definePlugin({
  name: "rate-limiter",
  onRequest: ({ config, headers, timestamp }) => {
    const given = headers[String(config.header).toLowerCase()]
    if (given === undefined && config.withoutHeader === "pass") return
    if (given === undefined && config.withoutHeader === "refuse") {
      return refused(400, \`The header \${config.header} is missing.\`, "header_missing")
    }
    const value = given ?? ""
    let window = windows.get(value)
    if (window === undefined || timestamp - window.since >= windowMs) {
      window = { since: timestamp, count: 0 }
      windows.delete(value)
      windows.set(value, window)
      // The oldest window is over, or soon will be.
      if (windows.size > mostValues) windows.delete(windows.keys().next().value)
    }
    window.count += 1
    if (window.count <= config.perMinute) return
    const seconds = Math.max(1, Math.ceil((window.since + windowMs - timestamp) / 1000))
    return refused(
      429,
      \`\${config.perMinute} requests per minute are allowed for \${config.header}; try again in \${seconds} s.\`,
      "rate_limit_exceeded",
      { "retry-after": String(seconds) }
    )
  }
})
`
  },
  integrity: "sha256-uNnLfcK5qqDFPUfKAZvzQ/phMWcncVta9SSkfAAlJ5c="
}
