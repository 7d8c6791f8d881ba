/** Routes of this subject: paths, and who may call them. */
import { subject } from "../../contract/tiers/Subject.ts"
import { loopback, manage } from "../../contract/tiers/Tiers.ts"

export const cliTools = subject("cliTools", {
  skill: "gw-cli-tools",
  routes: {
    list: manage("GET", "/api/cli-tools"),
    statuses: manage("GET", "/api/cli-tools/all-statuses"),
    runtime: manage("GET", "/api/cli-tools/runtime/:id"),
    settings: loopback("GET", "/api/cli-tools/:tool-settings"),
    writeSettings: loopback("POST", "/api/cli-tools/:tool-settings")
  }
})
