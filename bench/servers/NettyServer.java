package servers;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpVersion;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CountDownLatch;

/** The application behind Netty. */
public final class NettyServer {
    private static final CountDownLatch STOP = new CountDownLatch(1);

    public static void main(String[] arguments) throws Exception {
        Application application = new Application();
        NioEventLoopGroup acceptor = new NioEventLoopGroup(1);
        NioEventLoopGroup workers = new NioEventLoopGroup(4);
        ServerBootstrap server = new ServerBootstrap()
            .group(acceptor, workers)
            .channel(NioServerSocketChannel.class)
            .childHandler(new ChannelInitializer<SocketChannel>() {
                @Override
                protected void initChannel(SocketChannel channel) {
                    channel.pipeline().addLast(new HttpServerCodec(), new HttpObjectAggregator(65536), new Answers(application));
                }
            });
        Channel channel = server.bind(InetAddress.getLoopbackAddress(), 0).sync().channel();
        System.out.println("port " + ((InetSocketAddress) channel.localAddress()).getPort());
        System.out.flush();
        STOP.await();
        channel.close().sync();
        acceptor.shutdownGracefully().sync();
        workers.shutdownGracefully().sync();
    }

    private static final class Answers extends SimpleChannelInboundHandler<FullHttpRequest> {
        private final Application application;

        Answers(Application application) {
            this.application = application;
        }

        @Override
        protected void channelRead0(ChannelHandlerContext context, FullHttpRequest request) throws Exception {
            String uri = request.uri();
            int mark = uri.indexOf('?');
            byte[] body = {};
            if (mark < 0) {
                STOP.countDown();
            } else {
                int equals = uri.indexOf('=');
                String answer = application.answer(
                    uri.substring(mark + 1, equals), Integer.parseInt(uri.substring(equals + 1)));
                body = answer.getBytes(StandardCharsets.US_ASCII);
            }
            DefaultFullHttpResponse response = new DefaultFullHttpResponse(
                HttpVersion.HTTP_1_1, HttpResponseStatus.OK, Unpooled.wrappedBuffer(body));
            response.headers().setInt(HttpHeaderNames.CONTENT_LENGTH, body.length);
            context.writeAndFlush(response);
        }
    }
}
