/** Routes of this subject: paths, and who may call them. */
import { subject } from "../../contract/tiers/Subject.ts"
import { loopback, manage } from "../../contract/tiers/Tiers.ts"

export const tunnels = subject("tunnels", {
  skill: "gw-tunnels",
  handlers: "traffic",
  routes: {
    list: manage("GET", "/api/tunnels"),
    quick: manage("GET", "/api/tunnels/quick"),
    setQuick: manage("POST", "/api/tunnels/quick"),
    token: manage("GET", "/api/tunnels/token"),
    setToken: manage("POST", "/api/tunnels/token"),
    ssh: manage("GET", "/api/tunnels/ssh"),
    setSsh: manage("POST", "/api/tunnels/ssh"),
    mesh: manage("GET", "/api/tunnels/mesh"),
    checkMesh: manage("GET", "/api/tunnels/mesh/check"),
    installMesh: loopback("POST", "/api/tunnels/mesh/install"),
    startMeshDaemon: loopback("POST", "/api/tunnels/mesh/start-daemon"),
    logInMesh: manage("POST", "/api/tunnels/mesh/login"),
    enableMesh: manage("POST", "/api/tunnels/mesh/enable"),
    disableMesh: manage("POST", "/api/tunnels/mesh/disable")
  }
})
