/**
 * Loaded before the program where blocks of the pages run: names and addresses of elsewhere lead to this machine, so that a block runs as it is
 * printed, and nothing leaves the machine. `DOCS_ROUTES` is JSON: `{ "tls": port, "plain": port, "loopback": { "<port>": port }, "elsewhere": { "<port>": port } }`.
 */
const dns = require("node:dns")
const net = require("node:net")

const routes = JSON.parse(process.env.DOCS_ROUTES)
/** What every name of elsewhere resolves to; a public address, which the outbound policy lets through. */
const elsewhere = "93.184.215.14"
const isLocal = (host) => host === undefined || host === "localhost" || host === "::1" || host.startsWith("127.")

const lookup = dns.lookup
dns.lookup = (host, options, callback) => {
  if (isLocal(host) || net.isIP(host) !== 0) return lookup(host, options, callback)
  const done = typeof options === "function" ? options : callback
  const all = typeof options === "object" && options?.all === true
  process.nextTick(() => (all ? done(null, [{ address: elsewhere, family: 4 }]) : done(null, elsewhere, 4)))
}
const lookupSoon = dns.promises.lookup
dns.promises.lookup = async (host, options) => {
  if (isLocal(host) || net.isIP(host) !== 0) return lookupSoon(host, options)
  return options?.all === true ? [{ address: elsewhere, family: 4 }] : { address: elsewhere, family: 4 }
}

const connect = net.Socket.prototype.connect
net.Socket.prototype.connect = function (...args) {
  const options = Array.isArray(args[0]) ? args[0][0] : args[0]
  if (options === null || typeof options !== "object" || options.port === undefined) return connect.apply(this, args)
  const { host, port } = options
  const isHere = isLocal(host)
  const to = isHere
    ? routes.loopback[port]
    : Number(port) === 443
      ? routes.tls
      : (routes.elsewhere[port] ?? routes.plain)
  if (to === undefined) return connect.apply(this, args)
  const target = { ...options, host: "127.0.0.1", port: to, lookup: undefined, autoSelectFamily: false }
  if (!isHere) Object.defineProperty(this, "remoteAddress", { get: () => (net.isIP(host) === 0 ? elsewhere : host) })
  return connect.call(this, target, ...(Array.isArray(args[0]) ? [args[0][1]].filter(Boolean) : args.slice(1)))
}
