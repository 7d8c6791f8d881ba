{
  "targets": [
    {
      "target_name": "tproxy",
      "sources": ["tproxy.c"],
      "cflags": ["-std=c11", "-Wall", "-Wextra", "-Werror", "-O2"],
      "defines": ["NAPI_VERSION=8"]
    }
  ]
}
