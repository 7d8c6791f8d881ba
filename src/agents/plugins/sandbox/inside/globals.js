// The globals that every plugin has beside ECMAScript. It runs inside the sandbox, before any code of the plugin.
/* global parts -- of the scripts, which share it */
parts.defineGlobals = (host) => {
  const define = (target, name, value) =>
    Object.defineProperty(target, name, { value, writable: true, enumerable: false, configurable: true })

  const stringify = JSON.stringify
  const parse = JSON.parse

  // Engines had memory errors in them, and nothing here is shared.
  delete globalThis.SharedArrayBuffer
  delete globalThis.Atomics
  delete globalThis.WebAssembly

  const maxLine = 2_000
  const shown = (value) => {
    if (typeof value === "string") return value
    if (value instanceof Error) return value.stack ? `${value}\n${value.stack}` : String(value)
    if (typeof value === "object" && value !== null) {
      try {
        return stringify(value) ?? String(value)
      } catch {
        return "[an object that is not JSON]"
      }
    }
    return String(value)
  }
  const lineOf = (values) => {
    let line = ""
    for (let i = 0; i < values.length && line.length < maxLine; i += 1) {
      const text = shown(values[i])
      line += `${i === 0 ? "" : " "}${text.length > maxLine ? text.slice(0, maxLine) : text}`
    }
    return line.length > maxLine ? line.slice(0, maxLine) : line
  }
  const writer =
    (level) =>
    (...values) => {
      host.log(level, lineOf(values))
    }
  const console = {}
  for (const [name, level] of [
    ["debug", 0],
    ["trace", 0],
    ["log", 1],
    ["info", 1],
    ["warn", 2],
    ["error", 3]
  ]) {
    define(console, name, writer(level))
  }
  define(globalThis, "console", console)

  const timers = Object.create(null)
  let lastTimer = 0
  define(globalThis, "setTimeout", (callback, delayMs = 0, ...values) => {
    if (typeof callback !== "function") throw new TypeError("setTimeout: expected a function")
    const id = (lastTimer += 1)
    const delay = Number(delayMs)
    host.timer(id, delay > 0 ? delay : 0)
    timers[id] = () => callback(...values)
    return id
  })
  define(globalThis, "clearTimeout", (id) => {
    if (timers[id] === undefined) return
    delete timers[id]
    host.clearTimer(Number(id))
  })
  const fire = (id) => {
    const callback = timers[id]
    delete timers[id]
    callback?.()
  }
  const forget = (id) => {
    delete timers[id]
  }

  const decodeForm = (text) => {
    try {
      return decodeURIComponent(text.replaceAll("+", " "))
    } catch {
      return text
    }
  }
  const encodeForm = (text) =>
    encodeURIComponent(text)
      .replaceAll("%20", "+")
      .replaceAll(/[!'()~]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)

  class URLSearchParams {
    #pairs = []
    #changed = null
    constructor(from = "", changed = null) {
      if (typeof from === "string") {
        for (const part of (from.startsWith("?") ? from.slice(1) : from).split("&")) {
          if (part === "") continue
          const at = part.indexOf("=")
          this.#pairs.push(
            at < 0 ? [decodeForm(part), ""] : [decodeForm(part.slice(0, at)), decodeForm(part.slice(at + 1))]
          )
        }
      } else {
        const pairs = typeof from?.[Symbol.iterator] === "function" ? [...from] : Object.entries(from ?? {})
        this.#pairs = pairs.map(([name, value]) => [String(name), String(value)])
      }
      this.#changed = changed
    }
    #set(pairs) {
      this.#pairs = pairs
      this.#changed?.(this.toString())
    }
    append(name, value) {
      this.#set([...this.#pairs, [String(name), String(value)]])
    }
    delete(name) {
      this.#set(this.#pairs.filter(([known]) => known !== String(name)))
    }
    get(name) {
      return this.#pairs.find(([known]) => known === String(name))?.[1] ?? null
    }
    getAll(name) {
      return this.#pairs.filter(([known]) => known === String(name)).map(([, value]) => value)
    }
    has(name) {
      return this.#pairs.some(([known]) => known === String(name))
    }
    set(name, value) {
      const at = this.#pairs.findIndex(([known]) => known === String(name))
      const others = this.#pairs.filter(([known], place) => known !== String(name) || place === at)
      if (at < 0) others.push([String(name), String(value)])
      this.#set(others.map((pair) => (pair[0] === String(name) ? [String(name), String(value)] : pair)))
    }
    forEach(run) {
      for (const [name, value] of this.#pairs) run(value, name, this)
    }
    entries() {
      return this.#pairs.map((pair) => [...pair]).values()
    }
    keys() {
      return this.#pairs.map(([name]) => name).values()
    }
    values() {
      return this.#pairs.map(([, value]) => value).values()
    }
    get size() {
      return this.#pairs.length
    }
    toString() {
      return this.#pairs.map(([name, value]) => `${encodeForm(name)}=${encodeForm(value)}`).join("&")
    }
    [Symbol.iterator]() {
      return this.entries()
    }
  }
  define(globalThis, "URLSearchParams", URLSearchParams)

  const parts = ["href", "protocol", "username", "password", "host", "hostname", "port", "pathname", "search", "hash"]
  const parsedUrl = (text, base) => {
    const found = host.url(String(text), base === undefined ? null : String(base))
    if (found === null) throw new TypeError("Invalid URL")
    return parse(found)
  }
  class URL {
    #parts
    #params = null
    constructor(text, base) {
      this.#parts = parsedUrl(text, base)
    }
    static canParse(text, base) {
      return host.url(String(text), base === undefined ? null : String(base)) !== null
    }
    static part(url, name) {
      return url.#parts[name]
    }
    static change(url, name, value) {
      const found = host.urlWith(url.#parts.href, name, String(value))
      if (found !== null) url.#parts = parse(found)
      if (name !== "search") return
      url.#params = null
    }
    get origin() {
      return this.#parts.origin
    }
    get searchParams() {
      this.#params ??= new URLSearchParams(this.#parts.search, (search) => {
        const found = host.urlWith(this.#parts.href, "search", search)
        if (found !== null) this.#parts = parse(found)
      })
      return this.#params
    }
    toString() {
      return this.#parts.href
    }
    toJSON() {
      return this.#parts.href
    }
  }
  const { change, part } = URL
  delete URL.part
  delete URL.change
  for (const name of parts) {
    Object.defineProperty(URL.prototype, name, {
      get() {
        return part(this, name)
      },
      set(value) {
        change(this, name, value)
      },
      enumerable: true,
      configurable: true
    })
  }
  define(globalThis, "URL", URL)

  class TextEncoder {
    get encoding() {
      return "utf-8"
    }
    encode(text = "") {
      return new Uint8Array(host.encode(stringify(String(text))))
    }
  }
  define(globalThis, "TextEncoder", TextEncoder)

  const bytesOf = (given) => {
    if (given === undefined) return new ArrayBuffer(0)
    if (given instanceof ArrayBuffer) return given
    if (ArrayBuffer.isView(given)) return given.buffer.slice(given.byteOffset, given.byteOffset + given.byteLength)
    throw new TypeError("Expected bytes")
  }
  const decoded = (bytes, isFatal) => {
    const text = host.decode(bytes, isFatal)
    if (text === null) throw new TypeError("The bytes are not valid UTF-8")
    return parse(text)
  }
  class TextDecoder {
    #fatal
    constructor(label = "utf-8", { fatal = false } = {}) {
      if (!["utf-8", "utf8"].includes(String(label).toLowerCase())) {
        throw new RangeError("TextDecoder: only utf-8 is known")
      }
      this.#fatal = fatal === true
    }
    get encoding() {
      return "utf-8"
    }
    get fatal() {
      return this.#fatal
    }
    decode(bytes) {
      return decoded(bytesOf(bytes), this.#fatal)
    }
  }
  define(globalThis, "TextDecoder", TextDecoder)

  define(globalThis, "crypto", Object.freeze({ randomUUID: () => host.uuid() }))

  return { define, bytesOf, decoded, fire, forget }
}
