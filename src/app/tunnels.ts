/** The tunnels of the service, over all backends. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { join } from "node:path"
import * as Dns from "../egress/Dns.ts"
import { AppConfig } from "../platform/AppConfig.ts"
import * as SupervisedProgram from "../platform/SupervisedProgram.ts"
import { Backends } from "../tunnels/Backends.ts"
import * as MeshBackend from "../tunnels/mesh/MeshBackend.ts"
import * as MeshFunnel from "../tunnels/mesh/MeshFunnel.ts"
import * as MeshTools from "../tunnels/mesh/MeshTools.ts"
import * as QuickProgram from "../tunnels/quick/Program.ts"
import * as QuickBackend from "../tunnels/quick/QuickBackend.ts"
import * as SshBackend from "../tunnels/ssh/SshBackend.ts"
import * as TokenBackend from "../tunnels/token/TokenBackend.ts"
import * as Tunnels from "../tunnels/Tunnels.ts"

/** Building it ends programs that a gateway which was killed left behind. */
const programs = Layer.unwrapEffect(
  Effect.map(AppConfig, ({ dataDir }) => SupervisedProgram.layer({ recordsFolder: join(dataDir, "tunnels") }))
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
      QuickBackend.layer.pipe(Layer.provide(QuickProgram.layer)),
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
