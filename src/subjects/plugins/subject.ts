/** Routes of this subject: paths, and who may call them. */
import { subject } from "../../contract/tiers/Subject.ts"
import { loopback, manage } from "../../contract/tiers/Tiers.ts"

export const plugins = subject("plugins", {
  skill: "gw-settings",
  routes: {
    list: manage("GET", "/api/plugins"),
    install: loopback("POST", "/api/plugins"),
    scan: loopback("POST", "/api/plugins/scan"),
    marketplace: manage("GET", "/api/plugins/marketplace"),
    installOffer: loopback("POST", "/api/plugins/marketplace/:name/install"),
    get: manage("GET", "/api/plugins/:name"),
    remove: loopback("DELETE", "/api/plugins/:name"),
    activate: loopback("POST", "/api/plugins/:name/activate"),
    deactivate: loopback("POST", "/api/plugins/:name/deactivate"),
    config: manage("GET", "/api/plugins/:name/config"),
    setConfig: loopback("PUT", "/api/plugins/:name/config"),
    logs: manage("GET", "/api/plugins/:name/logs"),
    test: loopback("POST", "/api/plugins/:name/test")
  }
})
