// Follows topics with @stomp/stompjs: one line for each message, until standard input ends.
//     node follow.mjs ws://127.0.0.1:8082/scheduler /topic/jobs /topic/jobs/pi
import { Client } from '@stomp/stompjs';
import { WebSocket } from 'ws';

Object.assign(globalThis, { WebSocket });
const [url, ...topics] = process.argv.slice(2);
const fail = (what) => {
    console.error(what);
    process.exit(1);
};
const client = new Client({
    brokerURL: url,
    reconnectDelay: 0,
    heartbeatIncoming: 4000,
    heartbeatOutgoing: 4000,
    onConnect: () => {
        console.log(`connected ${client.connectedVersion}`);
        for (const topic of topics) {
            client.subscribe(topic, (message) => {
                console.log(`${message.headers.destination} ${message.body}`);
            });
        }
    },
    onStompError: (frame) => fail(frame.headers.message),
    onWebSocketError: (event) => fail(event.message),
});
client.activate();
process.stdin.on('end', async () => {
    await client.deactivate();
    console.log('disconnected');
});
process.stdin.resume();
