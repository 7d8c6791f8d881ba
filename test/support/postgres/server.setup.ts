/** Stops the server of Postgres that tests of the run have started. */
import { folderOf, stopServer } from "./Server.ts"

export default () => () => stopServer(folderOf(process.env["GATEWAY_TEST_RUN"] ?? ""))
