#!/usr/bin/env node
// Stands for `tailscale`. Its texts are those of 1.80.3 (cmd/tailscale/cli: serve_v2.go, serve_legacy.go, up.go, diag.go), those of the old
// grammar of 1.38.4 (funnel.go). What it does stands in $HOME/tailscale.json; each call is appended to $HOME/calls.jsonl.
import { appendFileSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"

const home = process.env.HOME
const file = join(home, "tailscale.json")
const state = JSON.parse(readFileSync(file, "utf8"))
const args = process.argv.slice(2)
const isRoot = process.env.FAKE_ROOT === "1"
appendFileSync(
  join(home, "calls.jsonl"),
  `${JSON.stringify({ program: "tailscale", args, isRoot, environment: Object.keys(process.env).toSorted() })}\n`
)

const out = (text) => process.stdout.write(`${text}\n`)
const err = (text) => process.stderr.write(`${text}\n`)
const save = () => writeFileSync(file, JSON.stringify(state))
const end = (code) => {
  process.exitCode = code
}
const wait = () => setInterval(() => {}, 1000)

const commands = {
  version: () =>
    out(`${state.version}\n  tailscale commit: 4bbf3b2c1d\n  other commit: 7c2e1a9b\n  go version: go1.23.6`),
  status: () => {
    const self = {
      ID: "n1",
      HostName: "box",
      DNSName: `${state.dnsName}.`,
      Online: true,
      CapMap: { funnel: null, https: null }
    }
    out(
      JSON.stringify(
        {
          Version: `${state.version}-t4bbf3b2c1`,
          BackendState: state.backendState,
          HaveNodeKey: true,
          AuthURL: state.authUrl,
          Self: self
        },
        null,
        "  "
      )
    )
  },
  up: () => {
    if (state.up === "denied" && !isRoot) {
      err(
        "Access denied: prefs write access denied\n\nUse 'sudo tailscale up'.\nTo not require root, use 'sudo tailscale set --operator=$USER' once."
      )
      return end(1)
    }
    if (state.up === "silent") return wait()
    if (state.up === "fails") {
      err("backend error: invalid key: unable to validate API key")
      return end(1)
    }
    err(`\nTo authenticate, visit:\n\n\thttps://login.tailscale.com/a/${state.loginId}\n`)
    setInterval(() => {
      // The person has been there.
      if (JSON.parse(readFileSync(file, "utf8")).backendState !== "Running") return
      err("Success.")
      process.exit(0)
    }, 20)
  },
  set: () => {
    state.hostname = args[1]
    save()
  },
  funnel: () => {
    if (args[1] === "status") return out(JSON.stringify(state.serve, null, "  "))
    if (state.grammar === "old") {
      err("flag provided but not defined: -https\nUSAGE\n  tailscale funnel <serve-port> {on|off}")
      return end(1)
    }
    const port = args.find((arg) => arg.startsWith("--https="))?.slice("--https=".length)
    const at = `${state.dnsName}:${port}`
    if (state.denies && !isRoot) {
      err(
        "sending serve config: Access denied: serve config denied\n\nUse 'sudo tailscale funnel --bg 3000'.\nTo not require root, use 'sudo tailscale set --operator=$USER' once."
      )
      return end(1)
    }
    if (args.at(-1) === "off") {
      if (state.serve?.Web?.[at]?.Handlers?.["/"] === undefined) {
        err("error: failed to remove web serve: handler does not exist\n\ntry `tailscale funnel --help` for usage info")
        return end(1)
      }
      delete state.serve.Web[at].Handlers["/"]
      if (Object.keys(state.serve.Web[at].Handlers).length === 0) {
        delete state.serve.Web[at]
        delete state.serve.TCP[port]
        delete state.serve.AllowFunnel?.[at]
      }
      return save()
    }
    if (state.funnel === "not-enabled" || state.funnel === "not-enabled-exits") {
      out("\nFunnel is not enabled on your tailnet.\nTo enable, visit:\n")
      out(`\n         https://login.tailscale.com/f/funnel?node=${state.nodeId}\n`)
      return state.funnel === "not-enabled" ? wait() : end(0)
    }
    if (state.funnel === "hangs") return wait()
    if (state.funnel === "fails") {
      err("error: foreground already exists under this port\n\ntry `tailscale funnel --help` for usage info")
      return end(1)
    }
    const target = args.at(-1)
    const { serve = {} } = state
    state.serve = {
      ...serve,
      TCP: { ...serve?.TCP, [port]: { HTTPS: true } },
      Web: { ...serve?.Web, [at]: { Handlers: { ...serve?.Web?.[at]?.Handlers, "/": { Proxy: target } } } },
      ...(state.funnel === "tailnet-only" ? {} : { AllowFunnel: { ...serve?.AllowFunnel, [at]: true } })
    }
    save()
    const portPart = port === "443" ? "" : `:${port}`
    out(`Available on the internet:\n\nhttps://${state.dnsName}${portPart}/\n|-- proxy ${target}\n`)
    out(
      `Funnel started and running in the background.\nTo disable the proxy, run: tailscale funnel --https=${port} off`
    )
  }
}

if (state.floods) {
  const block = `${"x".repeat(1000)}\n`.repeat(1000)
  for (let times = 0; times < 10; times += 1) process.stdout.write(block)
}
const needsDaemon = args[0] !== "version"
if (state.hangs) wait()
else if (needsDaemon && state.daemon === false) {
  err("failed to connect to local tailscaled; it doesn't appear to be running (sudo systemctl start tailscaled ?)")
  end(1)
} else if (commands[args[0]] === undefined) {
  err(`unknown subcommand ${args[0]}`)
  end(1)
} else commands[args[0]]()
