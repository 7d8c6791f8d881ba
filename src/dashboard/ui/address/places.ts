/** Addresses of the views. They begin with the path at which a proxy may serve the gateway. */
import { gatewayUrl } from "../../api/client.ts"

/** Path of the dashboard, without a slash at its end. */
export const base = `${new URL(gatewayUrl).pathname}dashboard`

export const placeOf = (path: string): string => `${base}/${path}`
