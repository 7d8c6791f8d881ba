/** Groups of captured traffic and of inbound and outbound connections. Written by `bin/subjects.mjs`: do not edit. */
export { layer as agentBridge } from "../../../subjects/agentBridge/handlers.ts"
export { layer as capture } from "../../../subjects/capture/handlers.ts"
export { layer as cloud } from "../../../subjects/cloud/handlers.ts"
export { layer as inspector } from "../../../subjects/inspector/handlers.ts"
export { layer as proxies } from "../../../subjects/proxies/handlers.ts"
export { layer as sync } from "../../../subjects/sync/handlers.ts"
export { layer as tunnels } from "../../../subjects/tunnels/handlers.ts"
