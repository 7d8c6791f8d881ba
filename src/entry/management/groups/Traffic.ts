/**
 * Groups of captured traffic and of inbound and outbound connections: inspector, capture, bridge, tunnels and proxies.
 */
export { layer as agentBridge } from "../../handlers/AgentBridge.ts"
export { layer as capture } from "../../handlers/Capture.ts"
export { layer as cloud } from "../../handlers/Cloud.ts"
export { layer as inspector } from "../../handlers/Inspector.ts"
export { layer as proxies } from "../../handlers/Proxies.ts"
export { layer as sync } from "../../handlers/Sync.ts"
export { layer as tunnels } from "../../handlers/Tunnels.ts"
