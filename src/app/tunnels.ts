/** The tunnels of the service, over all backends. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { join } from "node:path"
import * as Dns from "../net/egress/Dns.ts"
import { AppConfig } from "../platform/AppConfig.ts"
import * as SupervisedProgram from "../platform/programs/SupervisedProgram.ts"
import { Backends } from "../net/tunnels/Backends.ts"
import * as MeshBackend from "../net/tunnels/mesh/MeshBackend.ts"
import * as MeshFunnel from "../net/tunnels/mesh/MeshFunnel.ts"
import * as MeshTools from "../net/tunnels/mesh/MeshTools.ts"
import { Installs } from "../net/tunnels/Installs.ts"
import { announced, Events } from "../observe/Events.ts"
import * as QuickProgram from "../net/tunnels/quick/Program.ts"
import * as QuickBackend from "../net/tunnels/quick/QuickBackend.ts"
import * as SshBackend from "../net/tunnels/ssh/SshBackend.ts"
import * as TokenBackend from "../net/tunnels/token/TokenBackend.ts"
import * as Tunnels from "../net/tunnels/Tunnels.ts"

/** Building it ends programs that a gateway which was killed left behind. */
const programs = Layer.unwrapEffect(
  Effect.map(AppConfig, ({ dataDir }) => SupervisedProgram.layer({ recordsFolder: join(dataDir, "tunnels") }))
)

const installs = Layer.effect(
  Installs,
  Effect.map(Events, (events) => ({
    announced: (id, install) => announced(events, { kind: "install", id }, install)
  }))
)

const backends = Layer.effect(
  Backends,
  Effect.all({
    quick: QuickBackend.QuickBackend,
    token: TokenBackend.TokenBackend,
    mesh: MeshBackend.MeshBackend,
    ssh: SshBackend.SshBackend
  })
).pipe(
  Layer.provide(
    Layer.mergeAll(
      QuickBackend.layer.pipe(Layer.provide(QuickProgram.layer), Layer.provide(installs)),
      TokenBackend.layer,
      MeshBackend.layer,
      SshBackend.layer
    )
  )
)

export const tunnels = Layer.mergeAll(Tunnels.layer.pipe(Layer.provide(backends)), MeshTools.layer).pipe(
  Layer.provide(MeshFunnel.layer),
  Layer.provide(Layer.mergeAll(programs, Dns.layer))
)
