/** The client alone: the main entry of the package also loads fetch, caches, cookies and WebSockets, a tenth of the gateway's start time. */
declare module "undici/lib/dispatcher/client.js" {
  import { Client } from "undici"
  export default Client
}
