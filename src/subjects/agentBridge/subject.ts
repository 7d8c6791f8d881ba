/** Routes of this subject: paths, and who may call them. */
import { subject } from "../../contract/tiers/Subject.ts"
import { loopback } from "../../contract/tiers/Tiers.ts"

export const agentBridge = subject("agentBridge", {
  skill: "gw-cli-tools",
  handlers: "traffic",
  routes: {
    state: loopback("GET", "/api/tools/agent-bridge/state"),
    server: loopback("POST", "/api/tools/agent-bridge/server"),
    agents: loopback("GET", "/api/tools/agent-bridge/agents"),
    agent: loopback("GET", "/api/tools/agent-bridge/agents/:id"),
    agentDns: loopback("POST", "/api/tools/agent-bridge/agents/:id/dns"),
    detectAgent: loopback("GET", "/api/tools/agent-bridge/agents/:id/detect"),
    mappings: loopback("GET", "/api/tools/agent-bridge/agents/:id/mappings"),
    setMappings: loopback("PUT", "/api/tools/agent-bridge/agents/:id/mappings"),
    bypass: loopback("GET", "/api/tools/agent-bridge/bypass"),
    setBypass: loopback("PUT", "/api/tools/agent-bridge/bypass"),
    cert: loopback("GET", "/api/tools/agent-bridge/cert"),
    downloadCert: loopback("GET", "/api/tools/agent-bridge/cert/download"),
    regenerateCert: loopback("POST", "/api/tools/agent-bridge/cert/regenerate"),
    upstreamCa: loopback("GET", "/api/tools/agent-bridge/upstream-ca"),
    setUpstreamCa: loopback("PUT", "/api/tools/agent-bridge/upstream-ca"),
    removeUpstreamCa: loopback("DELETE", "/api/tools/agent-bridge/upstream-ca"),
    config: loopback("GET", "/api/tools/agent-bridge/config"),
    setConfig: loopback("PUT", "/api/tools/agent-bridge/config"),
    diagnose: loopback("GET", "/api/tools/agent-bridge/diagnose"),
    repair: loopback("POST", "/api/tools/agent-bridge/repair"),
    tproxy: loopback("GET", "/api/tools/agent-bridge/tproxy"),
    startTproxy: loopback("POST", "/api/tools/agent-bridge/tproxy"),
    stopTproxy: loopback("DELETE", "/api/tools/agent-bridge/tproxy")
  }
})
