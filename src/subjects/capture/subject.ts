/** Routes of this subject: paths, and who may call them. */
import { subject } from "../../contract/tiers/Subject.ts"
import { loopback } from "../../contract/tiers/Tiers.ts"

export const capture = subject("capture", {
  skill: "gw-cli-tools",
  handlers: "traffic",
  routes: {
    hosts: loopback("GET", "/api/tools/traffic-inspector/hosts"),
    addHost: loopback("POST", "/api/tools/traffic-inspector/hosts"),
    enableHost: loopback("PATCH", "/api/tools/traffic-inspector/hosts/:host"),
    removeHost: loopback("DELETE", "/api/tools/traffic-inspector/hosts/:host"),
    httpProxy: loopback("POST", "/api/tools/traffic-inspector/capture-modes/http-proxy"),
    systemProxy: loopback("POST", "/api/tools/traffic-inspector/capture-modes/system-proxy"),
    tlsIntercept: loopback("POST", "/api/tools/traffic-inspector/capture-modes/tls-intercept")
  }
})
