// How the gateway calls a plugin: what a function gets, and what becomes of its result. It runs inside the sandbox; everything that leaves
// it is text, and is checked again outside.
/* global parts -- of the scripts, which share it */
parts.start = (host, permissions) => {
  const parse = JSON.parse
  const stringify = JSON.stringify
  const isArray = Array.isArray
  const hasOwn = Object.hasOwn
  const freeze = Object.freeze
  const granted = parse(permissions)
  const basics = parts.defineGlobals(host)
  const { fire, forget: forgetTimer } = basics
  const has = (permission) => granted.includes(permission)
  const { forget: forgetAsk, settle } = parts.defineGranted(host, has, basics)
  const mark = Symbol.for("gateway/plugin")

  let plugin = null
  let config = freeze({})

  const unchanged = 0
  const changed = 1
  const blocked = 2
  const failed = 3

  const describe = (error) => {
    try {
      if (error instanceof Error) {
        const place = typeof error.stack === "string" ? (error.stack.split("\n", 1)[0] ?? "").trim() : ""
        const text = `${error.name}: ${error.message}`
        return (place === "" ? text : `${text} (${place})`).slice(0, 1_000)
      }
      return `threw ${typeof error === "string" ? error : (stringify(error) ?? String(error))}`.slice(0, 1_000)
    } catch {
      return "threw something that cannot be shown"
    }
  }

  /** JSON text of a value that JSON can express; else an error that names the place. */
  const encode = (value, what) => {
    const check = function (key, item) {
      const at = () => `${what}${key === "" ? "" : `, at "${String(key).slice(0, 100)}"`}`
      switch (typeof item) {
        case "number":
          if (item - item !== 0) throw new TypeError(`${at()}: ${item} is not JSON`)
          break
        case "function":
        case "symbol":
        case "bigint":
          throw new TypeError(`${at()}: a ${typeof item} is not JSON`)
        case "undefined":
          if (isArray(this)) throw new TypeError(`${at()}: undefined is not JSON`)
          break
        default:
      }
      if (key === "__proto__") throw new TypeError(`${what}: a member may not be named __proto__`)
      return item
    }
    const text = stringify(value, check)
    if (text === undefined) throw new TypeError(`${what}: not JSON`)
    return text
  }

  const object = (value, what) => {
    if (typeof value !== "object" || value === null || isArray(value)) throw new TypeError(`${what} must be an object`)
    return value
  }

  const answerOf = (response) => {
    if (response === undefined || response === null) return "{}"
    const { body, error, headers, status } = object(response, "The response of blockRequest")
    if (status !== undefined && (typeof status !== "number" || status % 1 !== 0 || status < 200 || status > 599)) {
      throw new TypeError("The status of blockRequest must be a whole number from 200 to 599")
    }
    const message = typeof error === "string" ? error : (error?.message ?? error?.error?.message)
    if (error !== undefined && error !== null && typeof message !== "string") {
      throw new TypeError("The error of blockRequest must be a text, or an object with a message")
    }
    const code = typeof error === "string" ? undefined : (error?.code ?? error?.error?.code)
    return encode(
      {
        status: status ?? null,
        error: message === undefined ? null : { message, code: typeof code === "string" ? code : null },
        body: body === undefined ? null : object(body, "The body of blockRequest"),
        headers: headers === undefined ? {} : object(headers, "The headers of blockRequest")
      },
      "The response of blockRequest"
    )
  }

  /** What may come of each event. */
  const mayBlock = (hook) => hook === "onRequest"
  const mayChange = (hook) => hook === "onRequest" || hook === "onResponse"

  const finish = (id, hook, context, before, result) => {
    try {
      if (!mayChange(hook)) return host.done(id, unchanged, null, null, null)
      let kind = unchanged
      let body = null
      let answer = null
      let added = null
      if (result !== undefined && result !== null) {
        if (typeof result !== "object" || isArray(result)) {
          throw new TypeError(`${hook} must return nothing or an object, such as modifyBody(body)`)
        }
        const known = ["blocked", "response", "body", "metadata"].filter((key) => hasOwn(result, key))
        if (known.length === 0 && Object.keys(result).length > 0) {
          throw new TypeError(
            `${hook} returned an object that no helper has made; use modifyBody(body) to change the body`
          )
        }
        if (known.includes("blocked") && result.blocked === true) {
          if (!mayBlock(hook)) throw new TypeError(`${hook} cannot block`)
          kind = blocked
          answer = answerOf(result.response)
        } else if (known.includes("body")) {
          kind = changed
          body = encode(object(result.body, "The body"), "The body")
        }
        if (known.includes("metadata")) added = object(result.metadata, "The metadata")
      }
      const after = encode(object(context.metadata, "context.metadata"), "context.metadata")
      const metadata =
        added === null
          ? after === before
            ? null
            : after
          : encode({ ...(after === before ? {} : parse(after)), ...added }, "The metadata")
      host.done(id, kind, body, answer, metadata)
    } catch (error) {
      host.done(id, failed, describe(error), null, null)
    }
  }

  const fail = (id, error) => host.done(id, failed, describe(error), null, null)

  /** `body` is parsed when it is first read. */
  const withBody = (target, id) => {
    let body
    let isRead = false
    Object.defineProperty(target, "body", {
      get: () => {
        if (!isRead) body = parse(host.body(id))
        isRead = true
        return body
      },
      set: (value) => {
        isRead = true
        body = value
      },
      enumerable: true,
      configurable: true
    })
  }

  const invoke = (id, hook, contextText, payloadText, hasBody) => {
    let context = null
    let before = null
    let result
    try {
      const handler = plugin.hooks[hook]
      if (handler === undefined) return fail(id, new TypeError(`The plugin has no function ${hook}`))
      const payload = parse(payloadText)
      if (contextText === null) result = handler(payload)
      else {
        context = parse(contextText)
        before = stringify(context.metadata)
        context.config = config
        const holder = hook === "onResponse" ? payload : context
        context.body = null
        if (hasBody) withBody(holder, id)
        else holder.body = null
        result = handler(context, payload)
      }
      // A promise, or anything that behaves like one.
      if (typeof result?.then !== "function") return finish(id, hook, context, before, result)
    } catch (error) {
      return fail(id, error)
    }
    Promise.resolve(result).then(
      (value) => finish(id, hook, context, before, value),
      (error) => fail(id, error)
    )
  }

  const frozen = (value) => {
    if (typeof value === "object" && value !== null) {
      for (const key of Object.keys(value)) frozen(value[key])
      freeze(value)
    }
    return value
  }

  /** What it was defined with, as JSON; throws where the module's default export is none. */
  const define = (namespace) => {
    const given = namespace.default
    if (typeof given !== "object" || given === null || given[mark] !== true) {
      throw new TypeError('The default export must be what definePlugin of "gateway/plugin" returns')
    }
    plugin = given
    if (given.unknown.length > 0) {
      host.log(2, `definePlugin does not know: ${given.unknown.map(String).join(", ").slice(0, 500)}`)
    }
    const { enabled, hooks, name, priority, strategies } = given
    return stringify({ name, priority, enabled, hooks: Object.keys(hooks), strategies: Object.keys(strategies) })
  }

  const configure = (text) => {
    config = frozen(parse(text))
  }

  /** For strategies: no more than text goes in and comes out. */
  const describeStrategy = (name) => plugin.strategies[name]?.description ?? null
  const select = (name, poolText, contextText) => {
    const chosen = plugin.strategies[name].select(parse(poolText), parse(contextText))
    const { connectionId, model, provider, reason } = object(chosen, "The selection")
    return encode({ provider, model, connectionId, reason }, "The selection")
  }

  return { invoke, define, configure, fire, forgetTimer, settle, forgetAsk, describe, describeStrategy, select }
}
