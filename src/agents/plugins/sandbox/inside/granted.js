// The globals that come with a permission. It runs inside the sandbox, before any code of the plugin. What they ask for is done by the
// gateway, which checks the permission again.
/* global parts -- of the scripts, which share it */
parts.defineGranted = (host, has, { bytesOf, decoded, define }) => {
  const parse = JSON.parse
  const stringify = JSON.stringify
  const waiting = Object.create(null)
  let lastAsk = 0

  const failure = (text) => {
    const { code, message, type } = parse(text)
    const error = type === "TypeError" ? new TypeError(message) : new Error(message)
    if (code !== null) error.code = code
    return error
  }
  const ask = (operation, args) =>
    new Promise((resolve, reject) => {
      const id = (lastAsk += 1)
      waiting[id] = { resolve, reject }
      host.ask(id, operation, stringify(args))
    })
  const settle = (id, isDone, text) => {
    const asked = waiting[id]
    delete waiting[id]
    if (asked === undefined) return
    if (isDone) asked.resolve(parse(text))
    else asked.reject(failure(text))
  }
  const forget = (id) => {
    delete waiting[id]
  }

  const isText = (value) => typeof value === "string"
  const text = (value, what) => {
    if (!isText(value)) throw new TypeError(`${what} must be a string`)
    return value
  }

  if (has("network")) {
    const tokens = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
    const name = (value) => {
      const lower = String(value).toLowerCase()
      if (!tokens.test(lower)) throw new TypeError(`${lower.slice(0, 100)} is no name of a header`)
      return lower
    }
    const valueOf = (value) => {
      const trimmed = String(value).trim()
      // oxlint-disable-next-line no-control-regex -- they end a header
      if (/[\0\r\n]/.test(trimmed)) throw new TypeError("A header's value has a line break")
      return trimmed
    }
    class Headers {
      #fields = new Map()
      constructor(from = {}) {
        const pairs = typeof from?.[Symbol.iterator] === "function" ? from : Object.entries(from ?? {})
        for (const [key, value] of pairs) this.append(key, value)
      }
      append(key, value) {
        const known = this.#fields.get(name(key))
        this.#fields.set(name(key), known === undefined ? valueOf(value) : `${known}, ${valueOf(value)}`)
      }
      delete(key) {
        this.#fields.delete(name(key))
      }
      get(key) {
        return this.#fields.get(name(key)) ?? null
      }
      has(key) {
        return this.#fields.has(name(key))
      }
      set(key, value) {
        this.#fields.set(name(key), valueOf(value))
      }
      forEach(run) {
        for (const [key, value] of this) run(value, key, this)
      }
      entries() {
        return [...this.#fields].sort(([a], [b]) => (a < b ? -1 : 1)).values()
      }
      keys() {
        return [...this.#fields.keys()].sort().values()
      }
      values() {
        return [...this.entries()].map(([, value]) => value).values()
      }
      [Symbol.iterator]() {
        return this.entries()
      }
    }

    class AbortSignal {
      #aborted = false
      #reason = undefined
      #listeners = new Set()
      static abortIt(signal, reason) {
        if (signal.#aborted) return
        signal.#aborted = true
        signal.#reason = reason
        for (const listener of signal.#listeners) listener()
      }
      get aborted() {
        return this.#aborted
      }
      get reason() {
        return this.#reason
      }
      throwIfAborted() {
        if (this.#aborted) throw this.#reason
      }
      addEventListener(_, listener) {
        this.#listeners.add(listener)
      }
      removeEventListener(_, listener) {
        this.#listeners.delete(listener)
      }
    }
    const { abortIt } = AbortSignal
    delete AbortSignal.abortIt
    const abortError = () => {
      const error = new Error("The operation was aborted")
      error.name = "AbortError"
      return error
    }
    class AbortController {
      #signal = new AbortSignal()
      get signal() {
        return this.#signal
      }
      abort(reason = abortError()) {
        abortIt(this.#signal, reason)
      }
    }

    const bodyText = (body) => {
      if (body === null || body === undefined) return null
      if (isText(body)) return body
      if (body instanceof ArrayBuffer || ArrayBuffer.isView(body)) return decoded(bytesOf(body), false)
      return String(body)
    }
    /** What requests and answers have in common: a body that is read once. */
    class Body {
      #take
      #used = false
      constructor(take) {
        this.#take = take
      }
      get bodyUsed() {
        return this.#used
      }
      #taken(form) {
        if (this.#used) throw new TypeError("The body was read already")
        this.#used = true
        return this.#take(form)
      }
      async text() {
        return this.#taken("text")
      }
      async json() {
        return parse(this.#taken("text"))
      }
      async arrayBuffer() {
        return this.#taken("bytes")
      }
    }
    const given = (body) => (form) => (form === "text" ? (body ?? "") : host.encode(stringify(body ?? "")))

    class Request extends Body {
      #body
      constructor(from, init = {}) {
        const base = from instanceof Request ? from : null
        const body = init.body === undefined ? (base === null ? null : base.#body) : bodyText(init.body)
        super(given(body))
        this.#body = body
        this.url = base === null ? new URL(String(from)).href : base.url
        this.method = String(init.method ?? base?.method ?? "GET").toUpperCase()
        this.headers = new Headers(init.headers ?? base?.headers ?? {})
        this.redirect = init.redirect ?? base?.redirect ?? "follow"
        this.signal = init.signal ?? base?.signal ?? null
        if (body !== null && (this.method === "GET" || this.method === "HEAD")) {
          throw new TypeError("A request with GET or HEAD has no body")
        }
      }
      static sent(request) {
        return request.#body
      }
    }
    const { sent } = Request
    delete Request.sent

    class Response extends Body {
      constructor(body = null, init = {}) {
        super(typeof body === "function" ? body : given(bodyText(body)))
        this.status = init.status ?? 200
        this.statusText = init.statusText ?? ""
        this.headers = new Headers(init.headers ?? {})
        this.url = init.url ?? ""
        this.redirected = init.redirected === true
      }
      get ok() {
        return this.status >= 200 && this.status < 300
      }
    }

    const fetch = async (from, init = {}) => {
      const request = new Request(from, init)
      const { headers, method, redirect, signal, url } = request
      signal?.throwIfAborted()
      const asked = ask("fetch", { url, method, redirect, headers: [...headers], body: sent(request) })
      const id = lastAsk
      let stop = null
      const aborted =
        signal === null
          ? null
          : new Promise((_, reject) => {
              stop = () => {
                host.drop(id)
                forget(id)
                reject(signal.reason)
              }
              signal.addEventListener("abort", stop)
            })
      try {
        const answer = await (aborted === null ? asked : Promise.race([asked, aborted]))
        return new Response(
          (form) => (form === "text" ? parse(host.blobText(answer.blob)) : host.blobBytes(answer.blob)),
          answer
        )
      } finally {
        if (stop !== null) signal.removeEventListener("abort", stop)
      }
    }
    for (const [global, value] of Object.entries({ fetch, AbortController, Headers, Request, Response })) {
      define(globalThis, global, value)
    }
  }

  const encodingOf = (options) => {
    const encoding = isText(options) ? options : (options?.encoding ?? "utf8")
    if (!["utf8", "utf-8", "base64"].includes(encoding)) throw new TypeError('encoding must be "utf8" or "base64"')
    return encoding === "base64" ? "base64" : "utf8"
  }
  if (has("file-read") || has("file-write")) {
    const fs = {}
    if (has("file-read")) {
      fs.readFile = async (path, options) =>
        ask("fs.readFile", { path: text(path, "path"), encoding: encodingOf(options) })
      fs.readdir = async (path = ".") => ask("fs.readdir", { path: text(path, "path") })
      fs.stat = async (path) => {
        const { kind, ...facts } = await ask("fs.stat", { path: text(path, "path") })
        return { ...facts, isFile: () => kind === "file", isDirectory: () => kind === "directory" }
      }
    }
    if (has("file-write")) {
      fs.writeFile = async (path, data, options) => {
        const content = isText(data) ? data : decoded(bytesOf(data), false)
        await ask("fs.writeFile", { path: text(path, "path"), data: content, encoding: encodingOf(options) })
      }
      fs.mkdir = async (path) => {
        await ask("fs.mkdir", { path: text(path, "path") })
      }
      fs.rm = async (path, options = {}) => {
        await ask("fs.rm", { path: text(path, "path"), recursive: options.recursive === true })
      }
    }
    define(globalThis, "fs", Object.freeze(fs))
  }

  if (has("env")) {
    const env = parse(host.environment())
    const refuse = () => {
      throw new TypeError("The environment is read-only")
    }
    const proxy = new Proxy(Object.freeze(Object.assign(Object.create(null), env)), {
      set: refuse,
      deleteProperty: refuse,
      defineProperty: refuse
    })
    define(globalThis, "process", Object.freeze({ env: proxy }))
  }

  if (has("exec")) {
    const asked = (program, args = [], options = {}) => {
      if (!Array.isArray(args) || !args.every(isText)) throw new TypeError("The arguments must be a list of strings")
      return {
        program: text(program, "program"),
        args,
        input: options.input === undefined ? "" : String(options.input)
      }
    }
    define(
      globalThis,
      "child_process",
      Object.freeze({
        exec: async (program, args, options) => ask("exec", asked(program, args, options)),
        execSync: (program, args, options) => {
          const answer = parse(host.askNow("exec", stringify(asked(program, args, options))))
          if (answer.failure !== undefined) throw failure(stringify(answer.failure))
          return answer.done
        }
      })
    )
  }

  return { settle, forget }
}
