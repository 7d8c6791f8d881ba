/** Routes of this subject: paths, and who may call them. */
import { subject } from "../../contract/tiers/Subject.ts"
import { manage, open } from "../../contract/tiers/Tiers.ts"

export const system = subject("system", {
  skill: "gw-version-manager",
  handlers: "usual",
  routes: {
    ping: open("GET", "/api/health/ping"),
    health: manage("GET", "/api/monitoring/health"),
    init: open("GET", "/api/init"),
    shutdown: manage("POST", "/api/shutdown"),
    restart: manage("POST", "/api/restart"),
    envRepair: manage("POST", "/api/system/env/repair"),
    openapi: open("GET", "/openapi.json"),
    configurationSchema: open("GET", "/gateway.schema.json"),
    dashboard: open("GET", "/dashboard"),
    docs: open("GET", "/docs"),
    docsFile: open("GET", "/docs/:file")
  }
})
