/** The dashboard: its shell for every path below `/dashboard/`, and the files that the shell loads. */
import type { IncomingMessage, ServerResponse } from "node:http"
import * as Effect from "effect/Effect"
import { AppConfig } from "../../platform/AppConfig.ts"
import { pathOf } from "../../kernel/text/NormalPath.ts"
import { enteredByTunnel } from "../../subjects/auth/PeerAddress.ts"
import { GatewaySettings } from "../../subjects/flags/StoredFlags.ts"
import { identityHeaders } from "../../plane/request/Headers.ts"
import { assetHeaders, type Dashboard, dashboardOf, shellHeaders } from "../pages/Dashboard.ts"

/** Header of the shell by which an open page learns that the gateway has another dashboard now. */
export const buildHeader = "X-Gateway-Dashboard-Build"

const below = "/dashboard/"
const assets = "assets/"

/** Returns what follows `/dashboard/` in the address as it was sent; null for `/dashboard` alone, from which relative addresses would lead astray. */
const restOf = (url: string): string | null => {
  const path = pathOf(url)
  const at = path.toLowerCase().indexOf(below)
  return at === -1 ? null : path.slice(at + below.length)
}

/** Answers that there is nothing here, or nothing for who asks from there. */
const refusals = {
  no_dashboard: { status: 404, type: "not_found_error" },
  not_found: { status: 404, type: "not_found_error" },
  dashboard_local_only: { status: 403, type: "permission_error" }
} as const

const refuse = (response: ServerResponse, code: keyof typeof refusals, message: string): void => {
  const { status, type } = refusals[code]
  const body = JSON.stringify({ error: { message, type, code } })
  response.writeHead(status, { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body) })
  response.end(body)
}

const send = (dashboard: Dashboard, rest: string, request: IncomingMessage, response: ServerResponse): void => {
  if (rest.startsWith(assets)) {
    const file = dashboard.file(rest.slice(assets.length), String(request.headers["accept-encoding"] ?? ""))
    if (file === null)
      return refuse(response, "not_found", "This version of the dashboard has no such file. Load the page anew.")
    response.writeHead(200, { ...assetHeaders(file) })
    response.end(file.bytes)
    return
  }
  const page = dashboard.shell(rest)
  response.writeHead(200, {
    ...shellHeaders,
    [buildHeader]: dashboard.build,
    "Content-Length": Buffer.byteLength(page)
  })
  response.end(page)
}

const redirect = (response: ServerResponse): void => {
  response.writeHead(302, { Location: "dashboard/", "Cache-Control": "no-cache", Vary: "Accept, Origin" })
  response.end()
}

const missing = "This build of the gateway has no dashboard. The commands can do what it would: 'gateway --help'."
const off = "The dashboard is turned off (GATEWAY_DASHBOARD=false)."
const notByTunnel =
  "The dashboard is not answered through tunnels. Open it on the gateway's own machine or network, or turn on the setting dashboard.overTunnels: gateway settings set dashboard.overTunnels=true"

/** Puts the headers of every answer of the gateway before those of this one. */
const identify = (response: ServerResponse, requestId: string): void => {
  const pairs = identityHeaders(requestId)
  for (let at = 0; at + 1 < pairs.length; at += 2) response.setHeader(pairs[at] ?? "", pairs[at + 1] ?? "")
}

/** Opens the files with the first request for them: a start does not wait for it. */
export const make = Effect.map(Effect.all([AppConfig, GatewaySettings]), ([config, settings]) => {
  let opened: Dashboard | null | undefined
  const dashboard = (): Dashboard | null => {
    if (opened === undefined) opened = config.dashboard ? dashboardOf(config.dashboardFolder) : null
    return opened
  }
  const isKeptFrom = ({ socket }: IncomingMessage): boolean =>
    enteredByTunnel(socket) && !settings.current().dashboard.overTunnels
  return {
    /** Checks whether there is a dashboard to lead this browser to. */
    isThereFor: (request: IncomingMessage): boolean => !isKeptFrom(request) && dashboard() !== null,
    /** Sends a browser to it; relative, because a proxy may serve the gateway below a path of its own. */
    lead: (response: ServerResponse, requestId: string): void => {
      identify(response, requestId)
      redirect(response)
    },
    serve: (request: IncomingMessage, response: ServerResponse, requestId: string): void => {
      identify(response, requestId)
      if (isKeptFrom(request)) return refuse(response, "dashboard_local_only", notByTunnel)
      const found = dashboard()
      if (found === null) return refuse(response, "no_dashboard", config.dashboard ? missing : off)
      const rest = restOf(request.url ?? "")
      if (rest !== null) return send(found, rest, request, response)
      redirect(response)
    }
  }
})
