// The module "gateway/plugin" as plugins import it. It runs inside the sandbox.
const known = new Set(["name", "priority", "enabled", "strategies"])

/** Marks what `definePlugin` has made. Registered, because the sandbox has to find it. */
const mark = Symbol.for("gateway/plugin")

const events = [
  "onRequest",
  "onModelSelect",
  "onComboResolve",
  "onRateLimit",
  "onQuotaExhaust",
  "onProviderError",
  "onStreamStart",
  "onStreamEnd",
  "onResponse",
  "onError",
  "onInstall",
  "onActivate",
  "onDeactivate",
  "onUninstall"
]

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value)

/** The plugin: its name, how it is ordered, and a function for each event that it listens to. */
export const definePlugin = (plugin) => {
  if (!isObject(plugin)) throw new TypeError("definePlugin: expected an object")
  const { enabled = true, name, priority, strategies = {} } = plugin
  if (typeof name !== "string" || !/^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(name) || name.length > 64) {
    throw new TypeError("definePlugin: name must be in kebab-case, with 64 characters at most")
  }
  if (priority !== undefined && (typeof priority !== "number" || !Number.isFinite(priority))) {
    throw new TypeError("definePlugin: priority must be a number")
  }
  if (typeof enabled !== "boolean") throw new TypeError("definePlugin: enabled must be true or false")
  if (!isObject(strategies)) throw new TypeError("definePlugin: strategies must be an object")
  const hooks = Object.create(null)
  for (const event of events) {
    const handler = plugin[event]
    if (handler === undefined) continue
    if (typeof handler !== "function") throw new TypeError(`definePlugin: ${event} must be a function`)
    hooks[event] = handler
  }
  const selects = Object.create(null)
  for (const [strategy, given] of Object.entries(strategies)) {
    const select = typeof given === "function" ? given : given?.select
    if (typeof select !== "function")
      throw new TypeError(`definePlugin: strategies.${strategy} needs a function "select"`)
    const description = typeof given.description === "string" ? given.description : ""
    selects[strategy] = Object.freeze({ select, description })
  }
  const unknown = Object.keys(plugin).filter((key) => !known.has(key) && !events.includes(key))
  return Object.freeze({
    [mark]: true,
    name,
    priority: priority ?? null,
    enabled,
    hooks: Object.freeze(hooks),
    strategies: Object.freeze(selects),
    unknown
  })
}

/** Ends the request. Without a response it is answered with 403. */
export const blockRequest = (response) => (response === undefined ? { blocked: true } : { blocked: true, response })

/** The body that goes on instead of the client's. */
export const modifyBody = (body) => ({ body })

/** Adds to the metadata of the request, which all hooks see. */
export const addMetadata = (metadata) => ({ metadata })
