#!/bin/sh
# Run a command while pm2 keeps the server: started, waited for by its ready message, deleted. Args: the command.
pm2 start dist/serve.js --name kept --wait-ready --listen-timeout "${READY_S}000" --kill-timeout "${GRACE_S}000" || exit 1
"$@"
status=$?
pm2 delete kept
exit "$status"
