/**
 * Scripts that try to leave the sandbox, by what they try. Each is the body of a function and returns what it got hold of; the test looks
 * whether that is anything of the host. `host` is what an earlier step may have found, `context` and `payload` are those of the call.
 */
export const escapeScripts: Readonly<Record<string, string>> = {
  // Constructor chains
  "the Function of a plain function": 'return (() => {}).constructor("return this")()',
  "the Function of an object": 'return {}.constructor.constructor("return this")()',
  "the Function of the context": 'return context.constructor.constructor("return this")()',
  "the Function of the headers": 'return context.headers.constructor.constructor("return this")()',
  "the Function of the payload": 'return payload.constructor.constructor("return this")()',
  "the Function of console.log": 'return console.log.constructor("return this")()',
  "the Function of setTimeout": 'return setTimeout.constructor("return this")()',
  "the Function of crypto": 'return crypto.randomUUID.constructor("return this")()',
  "the Function of URL": 'return URL.constructor("return this")()',
  "the Function of a host result": 'return new TextEncoder().encode("x").constructor.constructor("return this")()',
  "the AsyncFunction": 'return (async () => {}).constructor("return this")()',
  "the GeneratorFunction": 'return (function* () {}).constructor("return this")().next().value',
  "the AsyncGeneratorFunction": 'return (async function* () {}).constructor("yield this")().next()',
  "the Function of an error": 'try { null.x } catch (e) { return e.constructor.constructor("return this")() }',
  "the Function of a host error": 'try { new URL("") } catch (e) { return e.constructor.constructor("return this")() }',
  "the Function of a promise": 'return Promise.resolve().constructor.constructor("return this")()',
  "the Function of a regular expression": 'return /x/.constructor.constructor("return this")()',
  "the Function of a symbol": 'return Symbol.iterator.constructor.constructor("return this")()',
  "the Function of a number": 'return (1).constructor.constructor("return this")()',
  "the Function by Reflect": 'return Reflect.construct(Function, ["return this"])()',
  "an indirect eval": 'return (0, eval)("this")',
  "a sloppy this": 'return Function("return (function () { return this })()")()',
  "the caller of a sloppy function": 'return Function("return (function f() { return f.caller })()")()',
  "arguments.callee.caller": 'return Function("return (function () { return arguments.callee.caller })()")()',
  // Names of the host
  process: "return process",
  "process by globalThis": "return globalThis.process",
  require: 'return require("fs")',
  module: 'return module.constructor._load("fs")',
  global: "return global.process",
  Buffer: "return Buffer",
  setImmediate: "return setImmediate",
  WebAssembly: "return WebAssembly",
  SharedArrayBuffer: "return SharedArrayBuffer",
  Atomics: "return Atomics",
  postMessage: "return postMessage",
  Worker: 'return new Worker("x")',
  performance: "return performance",
  "process.binding": 'return process.binding("fs")',
  getBuiltinModule: 'return process.getBuiltinModule("fs")',
  "std of the engine": "return std",
  "os of the engine": "return os",
  "bjson of the engine": "return bjson",
  scriptArgs: "return scriptArgs",
  "the scripts' own parts": "return parts",
  "the scripts' host": "return host",
  // Prototypes
  "polluting Object.prototype": 'Object.prototype.polluted = "yes"; return null',
  "polluting by __proto__": 'const o = JSON.parse(\'{"__proto__":{"polluted":"yes"}}\'); return Object.assign({}, o)',
  "polluting by the result": 'return { __proto__: null, ["__proto__"]: { polluted: "yes" } }',
  "polluting by constructor.prototype": 'return { constructor: { prototype: { polluted: "yes" } } }',
  "another toString": "Object.prototype.toString = () => { throw globalThis }; return {}",
  "a setter on Object.prototype":
    'let got; Object.defineProperty(Object.prototype, "then", { set(v) { got = this }, configurable: true }); delete Object.prototype.then; return got',
  "another Array iterator":
    'let got; const real = Array.prototype[Symbol.iterator]; Array.prototype[Symbol.iterator] = function () { got = this; return real.call(this) }; new URLSearchParams("a=1"); Array.prototype[Symbol.iterator] = real; return got',
  "another Promise.then":
    'const real = Promise.prototype.then; let got; Promise.prototype.then = function (...a) { got = a; return real.apply(this, a) }; const p = Promise.resolve(1).then((x) => x); Promise.prototype.then = real; return got[0].constructor("return this")()',
  "another Function.prototype.call":
    'const real = Function.prototype.call; let got; Function.prototype.call = function (...a) { got = this; return real.apply(this, a) }; console.log("x"); Function.prototype.call = real; return got',
  "another Function.prototype.apply":
    "const real = Function.prototype.apply; let got; Function.prototype.apply = function (...a) { got = this; return null }; setTimeout(() => {}, 1); Function.prototype.apply = real; return got",
  "another JSON.stringify":
    'const real = JSON.stringify; let got; JSON.stringify = function (...a) { got = this; return real(...a) }; console.log({}); JSON.stringify = real; return got?.constructor?.constructor("return this")()',
  "another JSON.parse":
    'const real = JSON.parse; let got; JSON.parse = (...a) => { got = a; return real(...a) }; new URL("http://x"); JSON.parse = real; return got',
  "another Symbol.hasInstance":
    "Object.defineProperty(ArrayBuffer, Symbol.hasInstance, { value: () => true, configurable: true }); try { return new TextDecoder().decode({ byteLength: 1e9 }) } finally { delete ArrayBuffer[Symbol.hasInstance] }",
  "another Error.prepareStackTrace":
    'let got; Error.prepareStackTrace = (e, frames) => { got = frames; return "" }; try { null.x } catch (e) { e.stack } delete Error.prepareStackTrace; return got?.[0]?.getThis?.()',
  "stack frames of the host":
    'try { new URL("") } catch (e) { return { text: e.stack.includes("node:") ? globalThis : null } }',
  // Getters, proxies, symbols
  "a getter that is read when the result leaves": 'return { get x() { return Function("return this")() } }',
  "a proxy as the result": 'return new Proxy({}, { get: (t, k) => (k === "toJSON" ? () => globalThis : undefined) })',
  "a proxy whose keys are odd":
    'return new Proxy({}, { ownKeys: () => ["__proto__"], getOwnPropertyDescriptor: () => ({ value: 1, enumerable: true, configurable: true }) })',
  "a proxy of a host function":
    'let got; const p = new Proxy(console.log, { apply: (t, self, a) => { got = self; return t } }); p("x"); return got',
  "a revoked proxy": "const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); return proxy",
  "a toJSON with the holder": "let got; ({ toJSON: function () { got = this } }); return got",
  "Symbol.toPrimitive":
    'let got; console.log({ [Symbol.toPrimitive](hint) { got = arguments.callee; return "" } }); return got',
  "Symbol.species":
    "let got; class B extends Uint8Array { static get [Symbol.species]() { got = this; return Array } }; new B(4).map((x) => x); return got",
  "Symbol.unscopables":
    'return Function("with ({ get process() { return 1 }, [Symbol.unscopables]: { process: true } }) { return typeof process === \\"object\\" ? process : null }")()',
  "registered symbols": 'return Symbol.for("nodejs.util.inspect.custom") in globalThis ? globalThis : null',
  "Symbol.for of the plugin": 'return globalThis[Symbol.for("gateway/plugin")]',
  // Host functions
  "a function instead of a text": 'return new URL(() => Function("return this")())',
  "an object that turns into a text":
    'let got; new URL({ toString: function () { got = this; return "http://x" } }); return got',
  "console with a huge text": 'console.log("x".repeat(8_000_000)); return null',
  "console with a thousand lines": "for (let i = 0; i < 1_000; i += 1) console.log(i); return null",
  "a symbol for setTimeout": 'return setTimeout(() => {}, Symbol("x"))',
  "a text as code for setTimeout": 'return setTimeout("globalThis.escaped = true", 0)',
  "a timer for ever": "return setTimeout(() => {}, Infinity)",
  "a hundred timers": "for (let i = 0; i < 100; i += 1) setTimeout(() => {}, 1e9); return null",
  "a decoder with a view of everything": "return new TextDecoder().decode(new Uint8Array(1e9))",
  "an encoder with a proxy": 'return new TextEncoder().encode(new Proxy({}, { get: () => () => "x" }))',
  "a URL that is a megabyte": 'return new URL("http://x/" + "a".repeat(1_000_000))',
  "a file URL": 'return { text: new URL("file:///etc/passwd").href === "file:///etc/passwd" ? null : globalThis }',
  "host functions as constructors": "return new console.log()",
  "binding a host function": 'return crypto.randomUUID.bind(globalThis)().constructor.constructor("return this")()',
  // Modules
  "import of node:fs": 'return import("node:fs")',
  "import of fs": 'return import("fs")',
  "import of an absolute path": 'return import("/etc/passwd")',
  "import of a file URL": 'return import("file:///etc/passwd")',
  "import of a data URL": 'return import("data:text/javascript,export default globalThis")',
  "import of an address": 'return import("http://127.0.0.1/x.js")',
  "import above the plugin": 'return import("../../../../../../etc/passwd")',
  "import above by a detour": 'return import("./a/../../main.js")',
  "import of an unknown file": 'return import("./nothing.js")',
  "import with the inner prefix": 'return import("plugin/main.js")',
  "import of what is beside the SDK": 'return import("gateway/plugin/../../package.json")',
  "import of __proto__": 'return import("__proto__")',
  "import with a NUL": 'return import("./main.js\\u0000/../../x")',
  "import by a proxy": 'return import(new Proxy({}, { get: () => () => "node:fs" }))',
  "import.meta": "return Function('return import.meta')()",
  "import by eval": "return (0, eval)(\"import('node:child_process')\")",
  // Globals of permissions that were not granted
  fetch: 'return fetch("http://127.0.0.1")',
  fs: 'return fs.readFile("/etc/passwd")',
  child_process: 'return child_process.execSync("id", [])',
  env: "return process.env"
}
