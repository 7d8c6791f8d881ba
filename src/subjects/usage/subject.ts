/** Routes of this subject: paths, and who may call them. */
import { subject } from "../../contract/tiers/Subject.ts"
import { manage, self } from "../../contract/tiers/Tiers.ts"

export const usage = subject("usage", {
  skill: "gw-usage-logs",
  handlers: "usual",
  routes: {
    logs: manage("GET", "/api/usage/logs", "readRequests"),
    requestLogs: manage("GET", "/api/usage/request-logs", "readRequests"),
    facets: manage("GET", "/api/usage/logs/facets"),
    series: manage("GET", "/api/usage/series", "readFigures"),
    meSeries: self("GET", "/api/usage/me/series"),
    meLogs: self("GET", "/api/usage/me/logs"),
    quotas: manage("GET", "/api/quotas"),
    connection: manage("GET", "/api/usage/:connectionId")
  }
})
