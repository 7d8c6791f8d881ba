/** Routes of this subject: paths, and who may call them. */
import { subject } from "../../contract/tiers/Subject.ts"
import { manage } from "../../contract/tiers/Tiers.ts"

export const proxies = subject("proxies", {
  skill: "gw-proxies",
  handlers: "traffic",
  routes: {
    list: manage("GET", "/api/v1/management/proxies"),
    create: manage("POST", "/api/v1/management/proxies"),
    update: manage("PATCH", "/api/v1/management/proxies"),
    remove: manage("DELETE", "/api/v1/management/proxies"),
    assignments: manage("GET", "/api/v1/management/proxies/assignments"),
    assign: manage("PUT", "/api/v1/management/proxies/assignments"),
    findFree: manage("POST", "/api/v1/management/proxies/free"),
    settings: manage("GET", "/api/settings/proxy"),
    setSettings: manage("PUT", "/api/settings/proxy"),
    test: manage("POST", "/api/settings/proxy/test")
  }
})
