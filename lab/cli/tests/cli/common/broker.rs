//! A broker of MQTT 3.1.1 for one publisher and one subscriber, with bad manners.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// What a broker does with a message.
#[derive(Clone, Copy)]
pub struct Manners {
    /// Whether it acknowledges it.
    pub acknowledges: bool,
    /// How often it delivers it.
    pub deliveries: usize,
}

/// A broker that runs until the test ends.
pub struct Broker {
    address: SocketAddr,
}

impl Broker {
    pub fn start(manners: Manners) -> Broker {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let subscriber: Arc<Mutex<Option<TcpStream>>> = Arc::default();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let subscriber = Arc::clone(&subscriber);
                // It ends with an error when the client goes.
                std::thread::spawn(move || serve(stream, &subscriber, manners));
            }
        });
        Broker { address }
    }

    pub fn url(&self) -> String {
        format!("mqtt://{}", self.address)
    }
}

fn serve(
    mut stream: TcpStream,
    subscriber: &Mutex<Option<TcpStream>>,
    manners: Manners,
) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    loop {
        let mut head = [0; 2];
        stream.read_exact(&mut head)?;
        assert!(head[1] < 0x80, "the packets of these tests are short");
        let mut body = vec![0; head[1].into()];
        stream.read_exact(&mut body)?;
        match (head[0] >> 4, head[0] >> 1 & 3) {
            // CONNECT
            (1, _) => stream.write_all(&[0x20, 2, 0, 0])?,
            (3, qos) => {
                let topic_end = 2 + usize::from(u16::from_be_bytes([body[0], body[1]]));
                if qos > 0 && manners.acknowledges {
                    let kind = if qos == 1 { 0x40 } else { 0x50 };
                    stream.write_all(&[kind, 2, body[topic_end], body[topic_end + 1]])?;
                }
                let packet = [&head[..], &body].concat().repeat(manners.deliveries);
                subscriber.lock().unwrap().as_mut().unwrap().write_all(&packet)?;
            }
            // PUBREL
            (6, _) => stream.write_all(&[0x70, 2, body[0], body[1]])?,
            // SUBSCRIBE, which ends with the QoS
            (8, _) => {
                *subscriber.lock().unwrap() = Some(stream.try_clone()?);
                stream.write_all(&[0x90, 3, body[0], body[1], body[body.len() - 1]])?;
            }
            _ => {}
        }
    }
}
